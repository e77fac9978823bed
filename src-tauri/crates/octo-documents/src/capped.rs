//! Text with a maximum length.

use std::io::{self, Write};

/// Maximum text taken from one document, in bytes: far more than anyone reads, and it fits anywhere.
pub(crate) const MAX_TEXT: usize = 16 << 20;

/// Collects text up to a limit. Above it, writing fails, which stops the reader.
pub(crate) struct CappedWriter<W> {
    inner: W,
    left: usize,
    full: bool,
}

impl<W: Write> CappedWriter<W> {
    pub(crate) fn new(inner: W, limit: usize) -> Self {
        Self { inner, left: limit, full: false }
    }

    /// Returns whether any text did not fit.
    pub(crate) fn is_full(&self) -> bool {
        self.full
    }

    pub(crate) fn inner(&mut self) -> &mut W {
        &mut self.inner
    }
}

impl<W: Write> Write for CappedWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.left {
            self.full = true;
            return Err(io::Error::other("there is more text than is taken"));
        }
        self.inner.write_all(bytes)?;
        self.left -= bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
