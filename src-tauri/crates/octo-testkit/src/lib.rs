//! What tests stand on: a scripted model server, temporary homes, a driver for the headless binary.
