//! The project's rules for the source itself, independent of its behaviour.

#[cfg(test)]
mod dependencies;
#[cfg(test)]
mod figures;
#[cfg(test)]
mod help;
#[cfg(test)]
mod licences;
#[cfg(test)]
mod modules;
#[cfg(test)]
mod sources;
