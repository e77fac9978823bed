//! Releases memory that only the start or finished work needed: code pages, which mostly run only once, and
//! memory the allocator keeps in reserve.
//!
//! The pages stay in the system's file cache and are read from there on the next use. Releasing them costs one
//! page fault each; in return a program that waits for days does not keep all the code of its first second in
//! memory.
//!
//! Only the program itself and libraries that were pinned first are released: another library could be unloaded
//! between the reading of its mapping and the release, and another thread's memory could be at that address by
//! then.

use nix::sys::mman::{MmapAdvise, madvise};
use std::{
    collections::BTreeSet,
    ffi::{CString, c_void},
    fs, io,
    ops::Range,
    ptr::NonNull,
    time::Duration,
};

/// Time after a page load or the window's closing until the process is considered quiet.
const QUIET_DELAY: Duration = Duration::from_secs(3);

/// Releases unneeded memory after [`QUIET_DELAY`].
pub(crate) fn release_soon() {
    tauri::async_runtime::spawn(async {
        tokio::time::sleep(QUIET_DELAY).await;
        match tauri::async_runtime::spawn_blocking(release).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%error, "memory was not given back"),
            Err(error) => tracing::debug!(%error, "memory was not given back"),
        }
    });
}

fn release() -> io::Result<()> {
    let maps = fs::read_to_string("/proc/self/maps")?;
    let code = Mapping::all(&maps).into_iter().filter(Mapping::is_code).map(|mapping| mapping.path);
    let pinned_files: BTreeSet<&str> =
        code.collect::<BTreeSet<_>>().into_iter().filter(|path| pin_library(path)).collect();
    // Read after the libraries are pinned: their addresses no longer change.
    let maps = fs::read_to_string("/proc/self/smaps")?;
    for pages in unmodified_ranges(&maps, &pinned_files, release as fn() -> io::Result<()> as usize) {
        let Some(address) = NonNull::new(pages.start as *mut c_void) else { continue };
        #[expect(
            unsafe_code,
            reason = "what these pages hold is what their files hold, none of them can be written to, and their files stay mapped there: what is read next is the same"
        )]
        let result = unsafe { madvise(address, pages.len(), MmapAdvise::MADV_DONTNEED) };
        if let Err(error) = result {
            // For example, pages that were locked.
            tracing::debug!(%error, "pages were not released");
        }
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

/// Pins a loaded library until the program ends and returns whether that succeeded. It never loads a library.
fn pin_library(path: &str) -> bool {
    let Ok(path) = CString::new(path) else { return false };
    let flags = nix::libc::RTLD_LAZY | nix::libc::RTLD_NOLOAD | nix::libc::RTLD_NODELETE;
    #[expect(unsafe_code, reason = "the path ends with a zero, and nothing that is not loaded yet is")]
    let library = unsafe { nix::libc::dlopen(path.as_ptr(), flags) };
    !library.is_null()
}

/// Returns the ranges that are identical to their files: code of these files and of the program, and the
/// constants before the code of the file that contains the address `own_address`, which is the program. A page that was
/// ever written to is private ("anonymous", in memory or swapped out) and would be lost.
fn unmodified_ranges(smaps: &str, pinned_files: &BTreeSet<&str>, own_address: usize) -> Vec<Range<usize>> {
    let mappings = Mapping::all(smaps);
    let own_file = mappings
        .iter()
        .find(|mapping| mapping.is_code() && mapping.range.contains(&own_address))
        .map(|code| code.file);
    let is_constants = |mapping: &Mapping<'_>| {
        mapping.permissions == "r--p" && mapping.offset == 0 && Some(mapping.file) == own_file
    };
    let releasable = mappings.iter().filter(|mapping| {
        (mapping.is_code() || is_constants(mapping))
            && mapping.is_file_backed()
            && (mapping.anonymous, mapping.swapped_out) == (Some(0), Some(0))
            && (Some(mapping.file) == own_file || pinned_files.contains(mapping.path))
    });
    releasable.map(|mapping| mapping.range.clone()).collect()
}

/// A mapping of `/proc/self/smaps` (proc_pid_smaps(5)).
struct Mapping<'a> {
    range: Range<usize>,
    permissions: &'a str,
    /// Offset in the file.
    offset: u64,
    /// The file's device and inode.
    file: (&'a str, &'a str),
    path: &'a str,
    /// Size of the pages that differ from the file, in kilobytes; `None` if the kernel does not report it.
    anonymous: Option<u64>,
    /// Size of such pages that were swapped out, in kilobytes.
    swapped_out: Option<u64>,
}

impl<'a> Mapping<'a> {
    fn all(smaps: &'a str) -> Vec<Self> {
        let mut mappings: Vec<Self> = Vec::new();
        for line in smaps.lines() {
            let size = |size: &str| size.trim().strip_suffix(" kB").and_then(|size| size.parse().ok());
            if let Some(mapping) = Self::parse_header(line) {
                mappings.push(mapping);
            } else if let Some(mapping) = mappings.last_mut() {
                if let Some(anonymous) = line.strip_prefix("Anonymous:") {
                    mapping.anonymous = size(anonymous);
                } else if let Some(swapped_out) = line.strip_prefix("Swap:") {
                    mapping.swapped_out = size(swapped_out);
                }
            }
        }
        mappings
    }

    fn parse_header(line: &'a str) -> Option<Self> {
        let mut fields = line.split_ascii_whitespace();
        let (start, end) = fields.next()?.split_once('-')?;
        let number = |text| usize::from_str_radix(text, 16).ok();
        let range = number(start)?..number(end)?;
        let permissions = fields.next()?;
        let offset = u64::from_str_radix(fields.next()?, 16).ok()?;
        let file = (fields.next()?, fields.next()?);
        // No earlier field contains a slash.
        let path = line.find('/').and_then(|start| line.get(start..)).unwrap_or_default();
        Some(Self { range, permissions, offset, file, path, anonymous: None, swapped_out: None })
    }

    fn is_code(&self) -> bool {
        self.permissions == "r-xp"
    }

    fn is_file_backed(&self) -> bool {
        self.file.1 != "0"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn smaps(mappings: &[(&str, &str)]) -> String {
        let mapping = |(header, fields): &(&str, &str)| {
            format!("{header}\nRss: 4 kB\n{fields}\nVmFlags: rd mr mw me\n")
        };
        mappings.iter().map(mapping).collect()
    }

    #[test]
    fn only_unmodified_code_and_constants_are_released() {
        let unmodified =
            "Anonymous:             0 kB\nSwap:                  0 kB\nSwapPss:               4 kB";
        let maps = smaps(&[
            ("1000-3000 r--p 00000000 fe:00 77 /usr/bin/octo", unmodified),
            ("3000-9000 r-xp 00002000 fe:00 77 /usr/bin/octo", unmodified),
            ("9000-a000 r--p 00008000 fe:00 77 /usr/bin/octo", "Anonymous: 4 kB\nSwap: 0 kB"),
            ("a000-b000 rw-p 00009000 fe:00 77 /usr/bin/octo", unmodified),
            ("b000-c000 rw-p 00000000 00:00 0 [heap]", unmodified),
            ("c000-d000 r-xp 00000000 00:00 0 ", unmodified),
            ("d000-e000 r--p 00000000 fe:00 78 /usr/lib/libc.so.6", unmodified),
            ("e000-f000 r-xp 00001000 fe:00 78 /usr/lib/libc.so.6", unmodified),
            ("f000-f400 r-xp 00001000 fe:00 79 /usr/lib/libwritten.so", "Anonymous: 8 kB\nSwap: 0 kB"),
            ("f400-f800 r-xp 00001000 fe:00 79 /usr/lib/libwritten.so", "Anonymous: 0 kB\nSwap: 8 kB"),
            ("f800-fc00 r-xs 00001000 fe:00 80 /usr/lib/libshared.so", unmodified),
            ("fc00-fd00 r-xp 00001000 fe:00 81 /usr/lib/libunknown.so", "Locked: 0 kB"),
            ("fd00-fe00 r-xp 00001000 fe:00 81 /usr/lib/libunknown.so", "Anonymous: 0 kB"),
            ("10000-18000 r-xp 00001000 fe:00 82 /usr/lib/later.so", unmodified),
        ]);
        let pinned_files = BTreeSet::from([
            "/usr/bin/octo",
            "/usr/lib/libc.so.6",
            "/usr/lib/libwritten.so",
            "/usr/lib/libshared.so",
            "/usr/lib/libunknown.so",
        ]);
        let ranges = |own_address| unmodified_ranges(&maps, &pinned_files, own_address);
        assert_eq!(ranges(0x4000), [0x1000..0x3000, 0x3000..0x9000, 0xe000..0xf000]);
        // If the program's own file is unknown, no constants are released.
        assert_eq!(ranges(0x1000), [0x3000..0x9000, 0xe000..0xf000]);
        assert_eq!(unmodified_ranges("cut sh", &pinned_files, 0x4000), Vec::<Range<usize>>::new());
        // Nothing of libraries that could be unloaded; the program itself cannot be.
        let ranges = unmodified_ranges(&maps, &BTreeSet::new(), 0x4000);
        assert_eq!(ranges, [0x1000..0x3000, 0x3000..0x9000]);
    }

    /// Returns the size of the part of this program's file that is resident in memory, in kilobytes.
    fn resident_size() -> u64 {
        let maps = fs::read_to_string("/proc/self/smaps").unwrap();
        let program = std::env::current_exe().unwrap().display().to_string();
        let mut is_program = false;
        let mut sum = 0;
        for line in maps.lines() {
            if Mapping::parse_header(line).is_some() {
                is_program = line.ends_with(&program);
            } else if let Some(size) = line.strip_prefix("Rss:").filter(|_| is_program) {
                sum += size.trim().trim_end_matches(" kB").parse::<u64>().unwrap();
            }
        }
        sum
    }

    #[test]
    fn releasing_memory_shrinks_the_program() {
        let size_before = resident_size();
        release().unwrap();
        let size_after = resident_size();
        assert!(size_after < size_before, "{size_before} kB, then {size_after} kB");
    }

    #[test]
    fn only_a_loaded_library_is_pinned() {
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        let mappings = Mapping::all(&maps);
        let libc =
            mappings.iter().find(|mapping| mapping.is_code() && mapping.path.contains("/libc.so")).unwrap();
        assert!(pin_library(libc.path));
        assert!(!pin_library("/no/such/library.so") && !pin_library("[vdso]") && !pin_library("a\0b"));
    }
}
