//! Gives back the memory that only the start needed, or work that is over: pages of the program's own file, most of which
//! are read once, and what the allocator keeps in case it is asked again.
//!
//! The pages stay in the system's cache of files and come back from there as they are read. Nothing is lost by letting go
//! of them but the time of a fault each; what is gained is that a program which waits for days does not hold what it ran
//! through in its first second.

use nix::sys::mman::{MmapAdvise, madvise};
use std::{ffi::c_void, fs, io, ops::Range, ptr::NonNull, time::Duration};

/// How long after a page was loaded, or the window went, there is nothing left to do at once.
const SETTLED: Duration = Duration::from_secs(3);

/// Gives back what is not needed any more, in a moment.
pub(crate) fn give_back_soon() {
    tauri::async_runtime::spawn(async {
        tokio::time::sleep(SETTLED).await;
        match tauri::async_runtime::spawn_blocking(give_back).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%error, "memory was not given back"),
            Err(error) => tracing::debug!(%error, "memory was not given back"),
        }
    });
}

fn give_back() -> io::Result<()> {
    let maps = fs::read_to_string("/proc/self/maps")?;
    for pages in of_file_with(&maps, give_back as fn() -> io::Result<()> as usize) {
        let Some(first) = NonNull::new(pages.start as *mut c_void) else { continue };
        #[expect(
            unsafe_code,
            reason = "these are code and constants of a file, never written to: what is read next is the same"
        )]
        unsafe { madvise(first, pages.len(), MmapAdvise::MADV_DONTNEED) }?;
    }
    #[cfg(target_env = "gnu")]
    #[expect(
        unsafe_code,
        reason = "only memory that is free is given back, under the allocator's own locks"
    )]
    unsafe {
        nix::libc::malloc_trim(0)
    };
    Ok(())
}

/// Where the code of the file with this address in it is, and the constants before it. What follows the code is
/// written to as the program is loaded, so it is none of them.
fn of_file_with(maps: &str, address: usize) -> Vec<Range<usize>> {
    let mappings: Vec<Mapping<'_>> = maps.lines().filter_map(Mapping::read).collect();
    let Some(code) = mappings
        .iter()
        .find(|mapping| mapping.may == "r-xp" && mapping.at.contains(&address) && mapping.file.1 != "0")
    else {
        return Vec::new();
    };
    let of_it = |mapping: &&Mapping<'_>| {
        mapping.file == code.file && (mapping.may == "r-xp" || (mapping.may == "r--p" && mapping.from == 0))
    };
    mappings.iter().filter(of_it).map(|mapping| mapping.at.clone()).collect()
}

/// A line of `/proc/self/maps` (proc_pid_maps(5)).
struct Mapping<'a> {
    at: Range<usize>,
    may: &'a str,
    /// From where on in the file.
    from: u64,
    /// The file's device and inode.
    file: (&'a str, &'a str),
}

impl<'a> Mapping<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let mut words = line.split_ascii_whitespace();
        let (start, end) = words.next()?.split_once('-')?;
        let number = |text| usize::from_str_radix(text, 16).ok();
        let at = number(start)?..number(end)?;
        let may = words.next()?;
        let from = u64::from_str_radix(words.next()?, 16).ok()?;
        Some(Self { at, may, from, file: (words.next()?, words.next()?) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
        1000-3000 r--p 00000000 fe:00 77 /usr/bin/octo\n\
        3000-9000 r-xp 00002000 fe:00 77 /usr/bin/octo\n\
        9000-a000 r--p 00008000 fe:00 77 /usr/bin/octo\n\
        a000-b000 rw-p 00009000 fe:00 77 /usr/bin/octo\n\
        b000-c000 rw-p 00000000 00:00 0 [heap]\n\
        d000-e000 r--p 00000000 fe:00 78 /usr/lib/x86_64-linux-gnu/libc.so.6\n\
        e000-f000 r-xp 00001000 fe:00 78 /usr/lib/x86_64-linux-gnu/libc.so.6\n\
        f000-f800 r-xp 00000000 00:00 0 [vdso]\n\
        cut short";

    #[test]
    fn code_and_the_constants_before_it_are_given_back_and_nothing_that_was_written_to() {
        assert_eq!(of_file_with(MAPS, 0x4000), [0x1000..0x3000, 0x3000..0x9000]);
        assert_eq!(of_file_with(MAPS, 0xe800), [0xd000..0xe000, 0xe000..0xf000]);
        // In no code, or in none of a file's.
        for address in [0x1000, 0xa800, 0xb800, 0xf400, 0xffff] {
            assert_eq!(of_file_with(MAPS, address), Vec::<Range<usize>>::new(), "{address:x}");
        }
    }

    /// Of what is mapped from the file of this program, in kilobytes that are here.
    fn here() -> u64 {
        let maps = fs::read_to_string("/proc/self/smaps").unwrap();
        let own = std::env::current_exe().unwrap().display().to_string();
        let mut counted = false;
        let mut sum = 0;
        for line in maps.lines() {
            if Mapping::read(line).is_some() {
                counted = line.ends_with(&own);
            } else if let Some(size) = line.strip_prefix("Rss:").filter(|_| counted) {
                sum += size.trim().trim_end_matches(" kB").parse::<u64>().unwrap();
            }
        }
        sum
    }

    #[test]
    fn this_program_has_less_of_itself_in_memory_afterwards_and_goes_on() {
        let before = here();
        give_back().unwrap();
        let after = here();
        assert!(after < before, "{before} kB, then {after} kB");
    }
}
