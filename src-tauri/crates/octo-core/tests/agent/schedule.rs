//! Tasks at their time, by a clock the test moves.

mod crash;
mod desk;
mod files;
mod running;
pub mod world;
mod writes;
mod years;
