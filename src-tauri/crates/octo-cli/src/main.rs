//! The headless binary.
fn main() {}
