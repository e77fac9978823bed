//! The rules of the house: what must hold of the source itself, whatever the code does.

#[cfg(test)]
mod dependencies;
#[cfg(test)]
mod help;
#[cfg(test)]
mod licences;
#[cfg(test)]
mod sources;
