//! Amounts of money.

use serde::{Deserialize, Serialize};
use std::{fmt, iter::Sum, ops::AddAssign};
use ts_rs::TS;

/// An amount in nano-dollars: billionths of a US dollar. In this unit a single token of the cheapest model is
/// still a whole number of thousandths. The maximum, `u64::MAX`, is eighteen thousand million dollars; sums
/// stop there instead of wrapping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(transparent)]
#[ts(export, export_to = "protocol.ts", type = "number")]
pub struct Cost(u64);

impl Cost {
    /// Zero.
    pub const ZERO: Self = Self(0);
    /// One US dollar.
    pub const DOLLAR: Self = Self(1_000_000_000);

    /// Creates a cost from nano-dollars.
    pub const fn from_nano_dollars(amount: u64) -> Self {
        Self(amount)
    }

    /// Returns the amount in nano-dollars.
    pub const fn as_nano_dollars(self) -> u64 {
        self.0
    }

    /// Converts an amount in dollars to the nearest nano-dollar. Returns `None` if it is negative, not a
    /// number, or too large.
    pub fn from_dollars(dollars: f64) -> Option<Self> {
        let nano = (dollars * 1e9).round();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "the range is checked"
        )]
        (nano >= 0.0 && nano < u64::MAX as f64).then_some(Self(nano as u64))
    }

    /// Returns the amount in dollars, for display.
    #[expect(clippy::cast_precision_loss, reason = "for showing; exact below nine million dollars")]
    pub fn as_dollars(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Returns the sum, or `None` on overflow.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// Returns the sum, capped at the largest amount.
    #[must_use]
    pub fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Subtracts `other`, stopping at zero.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl AddAssign for Cost {
    /// Saturating.
    fn add_assign(&mut self, other: Self) {
        *self = self.saturating_add(other);
    }
}

impl Sum for Cost {
    /// Saturating.
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::ZERO, Self::saturating_add)
    }
}

impl fmt::Display for Cost {
    /// Formats dollars with nine digits, as in `$0.012345678`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${}.{:09}", self.0 / Self::DOLLAR.0, self.0 % Self::DOLLAR.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_saturate() {
        let max = Cost::from_nano_dollars(u64::MAX);
        assert_eq!(max.saturating_add(Cost::DOLLAR), max);
        assert_eq!(max.checked_add(Cost::from_nano_dollars(1)), None);
        assert_eq!(Cost::ZERO.saturating_sub(Cost::DOLLAR), Cost::ZERO);
        assert_eq!([max, max].into_iter().sum::<Cost>(), max);
        let mut total = Cost::DOLLAR;
        total += Cost::DOLLAR;
        assert_eq!(total.as_nano_dollars(), 2_000_000_000);
    }

    #[test]
    fn dollars_are_read_and_shown() {
        for (dollars, nano) in [(0.0, Some(0)), (1.5, Some(1_500_000_000)), (0.000_000_001_4, Some(1))] {
            assert_eq!(Cost::from_dollars(dollars).map(Cost::as_nano_dollars), nano, "{dollars}");
        }
        for nonsense in [-0.1, f64::NAN, f64::INFINITY, 2e10] {
            assert_eq!(Cost::from_dollars(nonsense), None, "{nonsense}");
        }
        assert_eq!(Cost::from_nano_dollars(1_012_345_678).to_string(), "$1.012345678");
        assert_eq!(serde_json::to_string(&Cost::DOLLAR).unwrap(), "1000000000");
    }
}
