//! The real window, in a desktop of its own.

#[cfg(test)]
mod answers;
#[cfg(test)]
mod attaching;
#[cfg(test)]
mod browser;
#[cfg(test)]
mod chats;
#[cfg(test)]
mod chromium;
#[cfg(test)]
mod data;
#[cfg(test)]
mod demo;
#[cfg(test)]
mod export_import;
#[cfg(test)]
mod first_run;
#[cfg(test)]
mod first_task;
#[cfg(test)]
mod home_move;
#[cfg(test)]
mod idle;
#[cfg(test)]
mod installed;
#[cfg(test)]
mod keyboard;
#[cfg(test)]
mod login;
#[cfg(test)]
mod long;
#[cfg(test)]
mod other_process;
#[cfg(test)]
mod settings;
#[cfg(test)]
mod skills;
#[cfg(test)]
mod spending;
#[cfg(test)]
mod system;
#[cfg(test)]
mod tasks;
#[cfg(test)]
mod time_machine;
#[cfg(test)]
mod trash;
#[cfg(test)]
mod two_windows;
#[cfg(test)]
mod typing;
#[cfg(test)]
mod updates;
#[cfg(test)]
mod wizard;
