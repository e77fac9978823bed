//! Length and seed of the kill campaigns.
//!
//! `OCTO_CAMPAIGN_SEED` repeats a run, which prints its seed when it fails. The number of kills is a tenth of
//! [`FULL`] unless `OCTO_CAMPAIGN` is `full` or a number, or `OCTO_SOAK` is set.
#![expect(clippy::print_stdout, reason = "a campaign says which seed repeats it")]

/// Number of kills in a full campaign.
const FULL: usize = 200;

/// Returns the number of kills in this campaign.
fn kills() -> usize {
    match std::env::var("OCTO_CAMPAIGN").as_deref() {
        Ok("full") => FULL,
        Ok(number) if !number.is_empty() => number.parse().expect("OCTO_CAMPAIGN is `full` or a number"),
        _ if is_full() => FULL,
        _ => FULL / 10,
    }
}

/// How far a campaign was carried out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum CampaignExtent {
    Full,
    Part,
}

/// Makes all kills of a campaign, spread over as many homes as needed. `run_life` receives the seed of a home and
/// its maximum number of kills, and returns the number made.
pub fn kill(
    campaign_seed: u64,
    each: usize,
    mut run_life: impl FnMut(u64, usize) -> usize,
) -> CampaignExtent {
    let all = kills();
    let (mut left, mut seed) = (all, seed(campaign_seed));
    while left > 0 {
        println!("OCTO_CAMPAIGN_SEED={seed}, {left} kills left");
        let killed = run_life(seed, left.min(each));
        assert!(killed > 0, "the task is longer than the first fuse");
        left -= killed;
        seed += 1;
    }
    if all >= FULL { CampaignExtent::Full } else { CampaignExtent::Part }
}

/// Returns whether campaigns run in full.
pub fn is_full() -> bool {
    std::env::var_os("OCTO_SOAK").is_some()
}

/// Returns the seed of a campaign with this constant.
fn seed(campaign_seed: u64) -> u64 {
    std::env::var("OCTO_CAMPAIGN_SEED").map_or(campaign_seed, |seed| seed.parse().expect("a number"))
}

/// SplitMix64: good enough to pick moments, and the same everywhere for a seed.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number from `from` up to, but not including, `to`.
    pub fn below(&mut self, from: u64, to: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut state = self.0;
        state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        from + (state ^ (state >> 31)) % (to - from)
    }

    /// Returns true once in `times` calls on average.
    pub fn one_in(&mut self, times: u64) -> bool {
        self.below(0, times) == 0
    }
}
