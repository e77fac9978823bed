//! Requests about the activity in this Octo.

use super::{Acknowledgement, Request, TypedRequest};
use crate::{ActivityId, ActivityState, StoppedActivity};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

super::domain! {
    /// Requests about the activity in this Octo.
    ActivityRequest in Activity, ActivityReplies {
        /// Returns all activity. Subscribers of [`crate::LiveTopic::Activity`] receive it without asking.
        GetActivity {} -> ActivityState;
        /// Stops one activity. Succeeds if it is already over.
        StopActivity {
            /// The activity.
            id: ActivityId,
        } -> Acknowledgement;
        /// Stops all activity, queued turns first. Anything that could not be stopped remains listed.
        StopAllActivity {} -> StoppedActivity;
    }
}
