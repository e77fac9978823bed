//! Tasks at their scheduled times, with a clock the test moves.

mod crash;
mod desk;
mod files;
mod running;
pub mod world;
mod writes;
mod years;
