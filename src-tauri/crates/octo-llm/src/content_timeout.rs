//! Limits how long a server may keep a stream alive without any content.

use crate::{ErrorClass, ProviderError};
use std::time::{Duration, Instant};

/// Longest time that bytes (comments, pings, an unterminated frame) may arrive without any part of an answer.
/// Longer than any model is known to think without output; silence without bytes ends sooner, see
/// [`crate::transport::READ_TIMEOUT`].
const MAX_SILENCE: Duration = Duration::from_secs(30 * 60);

/// Time of a stream's last content.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LastContent(Instant);

impl LastContent {
    /// Starts the measurement at the beginning of the stream.
    pub(crate) fn starting_at(now: Instant) -> Self {
        Self(now)
    }

    /// Records that bytes arrived which yielded `events` events.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorClass::Network`] when there was no content for too long.
    pub(crate) fn record(&mut self, events: usize, now: Instant) -> Result<(), ProviderError> {
        if events > 0 {
            self.0 = now;
        }
        if now.saturating_duration_since(self.0) <= MAX_SILENCE {
            return Ok(());
        }
        let minutes = MAX_SILENCE.as_secs() / 60;
        let message = format!("The server kept the connection for {minutes} minutes and said nothing.");
        Err(ProviderError::new(ErrorClass::Network, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_events_keep_a_stream_alive_only_for_a_while() {
        let start = Instant::now();
        let minute = |count: u64| start + Duration::from_secs(60 * count);
        let mut last_content = LastContent::starting_at(start);
        for second in 1..=30 {
            assert_eq!(last_content.record(0, minute(second)), Ok(()), "{second}");
        }
        assert_eq!(last_content.record(0, minute(31)).map_err(|error| error.class), Err(ErrorClass::Network));

        let mut last_content = LastContent::starting_at(start);
        assert_eq!(last_content.record(1, minute(31)), Ok(()), "a word after a long time is a word");
        assert_eq!(last_content.record(0, minute(61)), Ok(()));
        assert!(last_content.record(0, minute(62)).is_err());
    }
}
