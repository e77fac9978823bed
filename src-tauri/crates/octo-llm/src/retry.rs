//! Decides when to retry a failed call. Pure: no clock, no sleep, no randomness of its own.

use crate::ProviderError;
use std::time::Duration;

/// Retry schedule of failed calls: exponential back-off with jitter, which honours a wait requested by the
/// server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Maximum attempts, including the first.
    pub attempts: u32,
    /// Ceiling of the first wait; it doubles with every further one.
    pub base: Duration,
    /// Ceiling of every wait.
    pub cap: Duration,
}

/// Longest wait that a server may request. If it requests more, Octo does not wait: the person decides.
pub const LONGEST_WAIT: Duration = Duration::from_secs(5 * 60);

/// Ten attempts with waits of at most 1, 2, 4 … 60 seconds.
impl Default for RetryPolicy {
    fn default() -> Self {
        Self { attempts: 10, base: Duration::from_secs(1), cap: Duration::from_secs(60) }
    }
}

impl RetryPolicy {
    /// Returns the wait before the next attempt, or `None` if there must be none.
    ///
    /// `attempt` counts the failed attempts so far, from 1. `jitter` is drawn uniformly from 0 to 1: the wait
    /// is between a quarter of the ceiling and the ceiling, so clients that failed together retry at different
    /// times, yet none immediately. A wait requested by the server is never shortened; above [`LONGEST_WAIT`]
    /// there is no next attempt.
    pub fn next(&self, attempt: u32, error: &ProviderError, jitter: f64) -> Option<Duration> {
        if !error.class.is_retryable() || attempt >= self.attempts {
            return None;
        }
        let doubled =
            2_u32.checked_pow(attempt.saturating_sub(1)).and_then(|factor| self.base.checked_mul(factor));
        let ceiling = doubled.unwrap_or(self.cap).min(self.cap);
        let floor = ceiling / 4;
        let jitter = if jitter.is_finite() { jitter.clamp(0.0, 1.0) } else { 1.0 };
        let delay = floor + (ceiling - floor).mul_f64(jitter);
        match error.retry_after {
            Some(requested) if requested > LONGEST_WAIT => None,
            Some(requested) => Some(delay.max(requested)),
            None => Some(delay),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorClass;
    use proptest::prelude::*;

    fn error(class: ErrorClass, retry_after: Option<u64>) -> ProviderError {
        ProviderError { retry_after: retry_after.map(Duration::from_secs), ..ProviderError::new(class, "") }
    }

    const CLASSES: [ErrorClass; 21] = [
        ErrorClass::Auth,
        ErrorClass::Billing,
        ErrorClass::Forbidden,
        ErrorClass::NotFound,
        ErrorClass::RateLimited,
        ErrorClass::Overloaded,
        ErrorClass::Network,
        ErrorClass::CutOff,
        ErrorClass::Malformed,
        ErrorClass::ContextTooLong,
        ErrorClass::Invalid,
        ErrorClass::Address,
        ErrorClass::Insecure,
        ErrorClass::Header,
        ErrorClass::Proxy,
        ErrorClass::Certificate,
        ErrorClass::Untrusted,
        ErrorClass::KeyUnread,
        ErrorClass::NoKeychain,
        ErrorClass::Removed,
        ErrorClass::Cancelled,
    ];

    #[test]
    fn delays_double_up_to_the_cap_and_end_with_the_attempts() {
        let policy = RetryPolicy::default();
        let overloaded = error(ErrorClass::Overloaded, None);
        let seconds =
            |attempt, jitter| policy.next(attempt, &overloaded, jitter).map(|delay| delay.as_secs_f64());
        for (attempt, least, max) in
            [(1, 0.25, 1.0), (2, 0.5, 2.0), (3, 1.0, 4.0), (6, 8.0, 32.0), (7, 15.0, 60.0), (9, 15.0, 60.0)]
        {
            assert_eq!(seconds(attempt, 0.0), Some(least), "attempt {attempt}");
            assert_eq!(seconds(attempt, 1.0), Some(max), "attempt {attempt}");
        }
        assert_eq!(seconds(10, 0.5), None);
        assert_eq!(seconds(u32::MAX, 0.5), None);
    }

    #[test]
    fn a_requested_delay_is_honoured_or_refused_never_shortened() {
        let policy = RetryPolicy::default();
        for (requested, expected) in
            [(0, Some(1)), (7, Some(7)), (300, Some(300)), (301, None), (u64::MAX, None)]
        {
            let delay = policy.next(1, &error(ErrorClass::RateLimited, Some(requested)), 1.0);
            assert_eq!(delay, expected.map(Duration::from_secs), "asked for {requested}");
        }
        assert_eq!(policy.next(10, &error(ErrorClass::RateLimited, Some(1)), 0.0), None);
    }

    #[test]
    fn only_retryable_errors_are_retried() {
        for class in CLASSES {
            let is_retried = RetryPolicy::default().next(1, &error(class, None), 0.5).is_some();
            assert_eq!(is_retried, class.is_retryable(), "{class:?}");
        }
    }

    #[test]
    fn every_error_class_has_a_message() {
        for class in CLASSES {
            let key = format!("error.{}", class.key());
            for language in [octo_protocol::Language::En, octo_protocol::Language::Zh] {
                let message = octo_protocol::words::say(language, &key, &std::collections::BTreeMap::new());
                assert_ne!(message, key, "{class:?} has no words");
            }
        }
    }

    proptest! {
        #[test]
        fn waits_stay_in_their_bounds(
            attempt in 1_u32..2000,
            jitter in prop_oneof![0.0..=1.0, Just(f64::NAN), Just(f64::INFINITY), Just(-3.0)],
            asked in proptest::option::of(0_u64..1000),
            attempts in 1_u32..2000,
        ) {
            let policy = RetryPolicy { attempts, ..RetryPolicy::default() };
            match policy.next(attempt, &error(ErrorClass::Network, asked), jitter) {
                Some(delay) => {
                    prop_assert!(attempt < attempts);
                    prop_assert!(delay >= Duration::from_millis(250));
                    prop_assert!(delay <= policy.cap.max(Duration::from_secs(asked.unwrap_or(0))));
                    prop_assert!(delay >= Duration::from_secs(asked.unwrap_or(0)));
                }
                None => prop_assert!(attempt >= attempts || asked.is_some_and(|asked| asked > 300)),
            }
        }

        #[test]
        fn more_jitter_never_shortens_the_delay(attempt in 1_u32..9, one in 0.0..=1.0_f64, other in 0.0..=1.0_f64) {
            let delay = |jitter| RetryPolicy::default().next(attempt, &error(ErrorClass::Network, None), jitter);
            prop_assert!(delay(one.min(other)) <= delay(one.max(other)));
        }
    }
}
