//! Requests about models.

use super::{Call, Done, Request};
use crate::{
    CompanionRole, LocalServers, ModelCheck, ModelDraft, ModelEntry, ModelId, ModelSpeed, PresetList,
    RemoteModels,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

super::domain! {
    /// Requests about models.
    ModelRequest in Models, ModelReplies {
        /// Add or change a model; the key goes to the keychain.
        SaveModel {
            /// The model.
            draft: ModelDraft,
        } -> ModelEntry;
        /// Ask the model for one word, without saving anything.
        TestModel {
            /// The model.
            draft: ModelDraft,
        } -> ModelCheck;
        /// Remove a model and its key.
        RemoveModel {
            /// Which.
            model: ModelId,
        } -> Done;
        /// The providers that can be picked, with what is known of their models. Nothing is sent anywhere.
        ListPresets {} -> PresetList;
        /// Look for model servers on this machine. Only this machine is asked, at the ports the presets name.
        FindLocalServers {} -> LocalServers;
        /// Ask the drafted provider which models it has. The draft's model may be empty.
        ListRemoteModels {
            /// The provider, as in a model's draft.
            draft: ModelDraft,
        } -> RemoteModels;
        /// Let a connected model answer a short question and time it. Only one is timed at a time: a second
        /// request waits for the first.
        MeasureModel {
            /// Which.
            model: ModelId,
        } -> ModelSpeed;
        /// Stop timing models: those being timed, and those waiting for it, end with an error.
        StopMeasuring {} -> Done;
        /// The model for small side tasks; none to use the session's own.
        ChooseLightModel {
            /// Which.
            model: Option<ModelId>,
        } -> Done;
        /// Connect the model the presets name beside another, at the same address with the same key and headers, and
        /// choose it. Where it is connected there already, it is only chosen.
        AddCompanion {
            /// Beside which.
            model: ModelId,
            /// What for.
            role: CompanionRole,
        } -> ModelEntry;
        /// The model that takes over while another's service fails; none for none.
        ChooseFallback {
            /// Whose.
            model: ModelId,
            /// Which takes over.
            fallback: Option<ModelId>,
        } -> Done;
    }
}
