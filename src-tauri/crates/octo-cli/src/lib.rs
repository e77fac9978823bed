//! Octo without a window: exec and serve.
