//! Requests about models.

use super::{Acknowledgement, Request, TypedRequest};
use crate::{
    CompanionRole, LocalServers, ModelCheck, ModelDraft, ModelEntry, ModelId, ModelSpeed, PresetList,
    RemoteModels,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

super::domain! {
    /// Requests about models.
    ModelRequest in Models, ModelReplies {
        /// Adds or changes a model; the key is stored in the keychain.
        SaveModel {
            /// The model.
            draft: ModelDraft,
        } -> ModelEntry;
        /// Asks the model for one word, without saving anything.
        TestModel {
            /// The model.
            draft: ModelDraft,
        } -> ModelCheck;
        /// Removes a model and its key.
        RemoveModel {
            /// The model.
            model: ModelId,
        } -> Acknowledgement;
        /// Returns the available providers, with facts about their models. Sends nothing.
        ListPresets {} -> PresetList;
        /// Finds model servers on this machine. Queries only this machine, at the ports in the presets.
        FindLocalServers {} -> LocalServers;
        /// Asks the drafted provider for its models. The draft's model may be empty.
        ListRemoteModels {
            /// The provider, as in a model's draft.
            draft: ModelDraft,
        } -> RemoteModels;
        /// Times a connected model's answer to a short question. Octo times one model at a time: a second
        /// request waits for the first.
        MeasureModel {
            /// The model.
            model: ModelId,
        } -> ModelSpeed;
        /// Stops timing models: running and waiting requests end with an error.
        StopMeasuring {} -> Acknowledgement;
        /// Chooses the model for small side tasks; `None` to use the session's own.
        ChooseLightModel {
            /// The model.
            model: Option<ModelId>,
        } -> Acknowledgement;
        /// Connects the model that the presets name as another's companion, at the same address with the same
        /// key and headers, and chooses it. If it is already connected there, only chooses it.
        AddCompanion {
            /// The model it accompanies.
            model: ModelId,
            /// The companion's role.
            role: CompanionRole,
        } -> ModelEntry;
        /// Chooses the model that takes over while another's service is failing.
        ChooseFallback {
            /// The model with the failing service.
            model: ModelId,
            /// The model that takes over; `None` for no fallback.
            fallback: Option<ModelId>,
        } -> Acknowledgement;
    }
}
