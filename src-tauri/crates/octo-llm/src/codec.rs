//! What distinguishes one wire format from another, in one place for each.

use crate::{
    Caching, Dialect, ModelEvent, ModelRequest, ProviderError, ProviderId, anthropic, bedrock, openai_chat,
    openai_responses, sse::SseEvent,
};
use octo_protocol::Protocol;
use reqwest::Url;
use serde_json::Value;

/// Decoder half of a codec: events in, model events out.
pub trait Decode: Send {
    /// Reads one event of the stream. After an error nothing more may be pushed.
    ///
    /// # Errors
    ///
    /// Returns the error that the event reports, classified by its kind, and [`crate::ErrorClass::Malformed`]
    /// when the event is not JSON or contradicts earlier ones.
    fn push(&mut self, event: SseEvent) -> Result<Vec<ModelEvent>, ProviderError>;

    /// Reads the end of the stream.
    ///
    /// # Errors
    ///
    /// Returns [`crate::ErrorClass::CutOff`] when the answer's own end never arrived.
    fn finish(&mut self) -> Result<Vec<ModelEvent>, ProviderError>;

    /// Returns whether the stream's terminal event was seen and nothing of value can follow.
    fn is_done(&self) -> bool;
}

/// A wire format: everything that depends on the protocol alone.
pub struct Codec {
    /// Name in a provider's id and in `--protocol`.
    pub name: &'static str,
    /// Description in the help of `--protocol`.
    pub description: &'static str,
    /// The vendor's own server.
    pub server: VendorServer,
    /// What identifies the sender of a request.
    pub credentials: Credentials,
    /// Headers of every request.
    pub(crate) headers: &'static [(&'static str, &'static str)],
    /// Framing of a stream's events.
    pub(crate) framing: Framing,
    /// Returns the caching assumed for an unknown provider.
    pub(crate) caching: fn() -> Caching,
    /// Returns the address of requests to a model below the base address.
    pub(crate) url: fn(&Url, &str) -> String,
    /// Returns the address of the list of models.
    pub(crate) models_url: fn(&Url) -> Result<String, ProviderError>,
    /// Builds the body of a request.
    pub(crate) encode: fn(&ModelRequest, &ProviderId, &Dialect) -> Value,
    /// Creates the decoder of a new answer.
    pub(crate) decoder: fn(&ProviderId, &Dialect) -> Box<dyn Decode>,
}

/// The vendor's own server of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VendorServer {
    /// One address.
    Address(&'static str),
    /// An address for each AWS region.
    AwsRegion,
}

/// What identifies the sender of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credentials {
    /// A key in `x-api-key`; in `authorization` too where the dialect says so.
    ApiKey,
    /// A key in `authorization`.
    Bearer,
    /// A key in `authorization`, or without one a signature with AWS credentials.
    BearerOrAws,
}

/// Framing of a stream's events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events.
    Text,
    /// AWS's binary frames.
    Binary,
}

impl Framing {
    /// Returns the media type that requests accept.
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Text => "text/event-stream",
            Self::Binary => "application/vnd.amazon.eventstream",
        }
    }
}

/// Returns the wire format of a protocol.
pub fn codec(protocol: Protocol) -> &'static Codec {
    match protocol {
        Protocol::Anthropic => &anthropic::CODEC,
        Protocol::OpenaiChat => &openai_chat::CODEC,
        Protocol::OpenaiResponses => &openai_responses::CODEC,
        Protocol::Bedrock => &bedrock::CODEC,
    }
}
