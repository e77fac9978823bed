//! Splits standard input into lines of limited length.

use octo_protocol::ApiError;
use std::io::{BufRead, Read};

/// Maximum length of a line: a picture of 20 MiB as base64 fits twice.
pub(super) const MAX_LINE: u64 = 64 * 1024 * 1024;

/// A line, or the reason why there is none.
pub(super) type InputLine = Result<Vec<u8>, ApiError>;

/// Reads lines until the end, a read error, or until `take` returns that no more are wanted. A line that is too
/// long is dropped completely and reported in its place.
pub(super) fn read_lines(input: impl BufRead, take: impl FnMut(InputLine) -> bool) {
    read_lines_up_to(MAX_LINE, input, take);
}

fn read_lines_up_to(limit: u64, mut input: impl BufRead, mut take: impl FnMut(InputLine) -> bool) {
    loop {
        let mut line = Vec::new();
        // One byte more than allowed: the line end, or proof that the line is too long.
        match input.by_ref().take(limit.saturating_add(1)).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let ended = line.last() == Some(&b'\n');
        if ended {
            line.pop();
        }
        let wants_more = if u64::try_from(line.len()).is_ok_and(|length| length <= limit) {
            take(Ok(line))
        } else {
            let has_more = skip_line(&mut input);
            take(Err(ApiError::new("serve.long_line").arg("mib", limit / (1024 * 1024)))) && has_more
        };
        if !wants_more {
            return;
        }
    }
}

/// Drops the rest of a line; returns whether more may follow.
fn skip_line(input: &mut impl BufRead) -> bool {
    loop {
        let (used, ended) = match input.fill_buf() {
            Ok([]) | Err(_) => return false,
            Ok(bytes) => match bytes.iter().position(|&byte| byte == b'\n') {
                Some(index) => (index + 1, true),
                None => (bytes.len(), false),
            },
        };
        input.consume(used);
        if ended {
            return true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(limit: u64, input: &[u8]) -> Vec<Result<String, String>> {
        let mut read_lines = Vec::new();
        read_lines_up_to(limit, input, |line| {
            read_lines.push(line.map(|line| String::from_utf8(line).unwrap()).map_err(|error| error.key));
            true
        });
        read_lines
    }

    #[test]
    fn lines_end_at_newlines_and_at_the_end_of_input() {
        let text = |lines: &[&str]| lines.iter().map(|&line| Ok(line.to_owned())).collect::<Vec<_>>();
        assert_eq!(lines(9, b""), text(&[]));
        assert_eq!(lines(9, b"a\n\nb\n"), text(&["a", "", "b"]));
        assert_eq!(lines(9, b"a\nb"), text(&["a", "b"]));
    }

    #[test]
    fn a_too_long_line_is_reported_and_skipped() {
        let too_long = || Err("serve.long_line".to_owned());
        let ok = |line: &str| Ok(line.to_owned());
        assert_eq!(lines(3, b"abc\nabcd\nabcdefghij\nx\n"), [ok("abc"), too_long(), too_long(), ok("x")]);
        assert_eq!(lines(3, b"x\nabcdefg"), [ok("x"), too_long()]);
        assert_eq!(lines(3, b"abc"), [ok("abc")]);
    }

    #[test]
    fn reading_ends_when_the_consumer_stops() {
        let mut count = 0;
        read_lines(&b"a\nb\nc\n"[..], |_| {
            count += 1;
            count < 2
        });
        assert_eq!(count, 2);
    }
}
