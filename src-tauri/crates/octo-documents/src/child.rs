//! The child process: sets its limits first, then reads one document from standard input and writes to standard
//! output.

use crate::{
    DocumentError, Format, archive,
    capped::{CappedWriter, MAX_TEXT},
    pdf, presentation, sheet, word,
};
use std::{
    fs::File,
    io::{self, BufReader, BufWriter, Cursor, Read, Seek, Write},
    process::ExitCode,
};

/// First output of the child, by which its parent recognises it.
pub(crate) const GREETING: &str = "octo-document 1\n";
/// Exit status of a child whose standard error contains a [`DocumentError`].
pub(crate) const REFUSED_STATUS: u8 = 10;

/// Maximum size of a document that is not passed as a file.
const MAX_STREAMED: u64 = 64 << 20;

/// Reads the document on standard input, a file of the named format, and writes its text to standard output.
/// The process can do nothing else: this binds the whole process to limits and cannot loosen them again.
pub fn serve(format: &str) -> ExitCode {
    // A library's messages about a broken document are of no use.
    std::panic::set_hook(Box::new(|_| {}));
    let mut out = CappedWriter::new(BufWriter::new(io::stdout().lock()), MAX_TEXT);
    let read = set_limits()
        .and_then(|()| Ok(out.inner().write_all(GREETING.as_bytes())?))
        .and_then(|()| read_standard_input(format, &mut out));
    let is_full = out.is_full();
    let out = out.inner();
    let end = match read {
        Err(_) if is_full => writeln!(out, "\n(The text ends here: it has more than {} MB.)", MAX_TEXT >> 20)
            .map_err(DocumentError::from),
        read => read,
    };
    match end.and_then(|()| Ok(out.flush()?)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let report = serde_json::to_string(&error).unwrap_or_default();
            // If this fails, there is no reader left.
            let _ = io::stderr().write_all(report.as_bytes());
            ExitCode::from(REFUSED_STATUS)
        }
    }
}

fn read_standard_input(format: &str, out: &mut dyn Write) -> Result<(), DocumentError> {
    let format =
        Format::from_name(format).ok_or_else(|| DocumentError::Failed("no such format".to_owned()))?;
    let mut file = standard_input()?;
    if file.rewind().is_ok() {
        return read(format, BufReader::new(file), out);
    }
    let mut bytes = Vec::new();
    file.take(MAX_STREAMED + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_STREAMED {
        return Err(DocumentError::TooLarge(MAX_STREAMED >> 20));
    }
    read(format, Cursor::new(bytes), out)
}

/// Returns standard input without its buffer, so a file can be read in any order.
fn standard_input() -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
    }
    #[cfg(windows)]
    {
        use std::os::windows::io::AsHandle;
        Ok(File::from(io::stdin().as_handle().try_clone_to_owned()?))
    }
}

/// Reads one document.
pub(crate) fn read(
    format: Format,
    source: impl Read + Seek,
    output: &mut dyn Write,
) -> Result<(), DocumentError> {
    match format {
        Format::Pdf => pdf::read(source, output),
        Format::Word => word::read(source, output),
        Format::Sheet => sheet::read(source, output),
        Format::Presentation => presentation::read(source, output),
        Format::OldWord | Format::OldPresentation => {
            Err(DocumentError::NoReader(format.description().to_owned()))
        }
        Format::Zip => archive::zip(source, output),
        Format::Tar => archive::tar(source, output),
        Format::Gzip => archive::gzip(source, output),
    }
}

/// Binds this process to its limits. Without them nothing is read.
#[cfg(unix)]
fn set_limits() -> Result<(), DocumentError> {
    use nix::sys::resource::{Resource, setrlimit};
    /// CPU-time limit in seconds; the parent uses the same wall-clock timeout.
    const CPU_SECONDS: u64 = 60;
    let limit = |resource, limit| {
        setrlimit(resource, limit, limit)
            .map_err(|error| DocumentError::Failed(format!("no limit can be set: {error}")))
    };
    #[cfg(target_os = "linux")]
    limit(Resource::RLIMIT_AS, memory_now()?.saturating_add(crate::parent::CHILD_MEMORY))?;
    limit(Resource::RLIMIT_CPU, CPU_SECONDS)?;
    limit(Resource::RLIMIT_CORE, 0)?;
    // Writing to a pipe does not count as writing to a file.
    limit(Resource::RLIMIT_FSIZE, 0)?;
    // The three standard streams, one for the input's second handle, and some spare.
    limit(Resource::RLIMIT_NOFILE, 16)
}

/// Returns the address space this process already uses: libraries and their tables, much of it never touched.
#[cfg(target_os = "linux")]
fn memory_now() -> Result<u64, DocumentError> {
    let pages = std::fs::read_to_string("/proc/self/statm")?;
    let pages: u64 =
        pages.split_whitespace().next().and_then(|pages| pages.parse().ok()).ok_or_else(|| {
            DocumentError::Failed("the system does not say how much memory is used".to_owned())
        })?;
    let page = nix::unistd::sysconf(nix::unistd::SysconfVar::PAGE_SIZE).ok().flatten().unwrap_or(4_096);
    Ok(pages.saturating_mul(u64::try_from(page).unwrap_or(4_096)))
}

/// The system has no such limits; the parent's limits on time and text still apply.
#[cfg(not(unix))]
fn set_limits() -> Result<(), DocumentError> {
    Ok(())
}
