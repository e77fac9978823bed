//! Everything Octo remembers as state, in one SQLite file.
