//! The real window, in a desktop of its own.

#[cfg(test)]
mod attaching;
#[cfg(test)]
mod browser;
#[cfg(test)]
mod chromium;
#[cfg(test)]
mod demo;
#[cfg(test)]
mod first_run;
#[cfg(test)]
mod first_task;
#[cfg(test)]
mod installed;
#[cfg(test)]
mod skills;
#[cfg(test)]
mod spending;
#[cfg(test)]
mod system;
#[cfg(test)]
mod time_machine;
