//! Requests about what runs in this Octo.

use super::{Call, Done, Request};
use crate::{ActivityId, ActivityState, StoppedActivity};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

super::domain! {
    /// Requests about what runs in this Octo.
    ActivityRequest in Activity, ActivityReplies {
        /// All that runs. Whoever watches [`crate::Topic::Activity`] is told of it without asking.
        GetActivity {} -> ActivityState;
        /// Stop one thing. One that is over already is no fault.
        StopActivity {
            /// Which.
            id: ActivityId,
        } -> Done;
        /// Stop everything, what waits for a place first. What could not be stopped is still among what runs.
        StopAllActivity {} -> StoppedActivity;
    }
}
