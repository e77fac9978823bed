//! AWS Bedrock Converse codec: a message format of its own, binary event frames, and requests signed with AWS
//! credentials when there is no key.
//!
//! As with [`crate::anthropic`], the blocks of a request are a prefix of the blocks of every later one of the
//! same conversation, apart from cache points. Consecutive messages of one side are merged, since the server
//! requires alternation.

mod credentials;
mod decode;
mod encode;
mod sign;

pub use credentials::AwsEnvironment;
pub use decode::Decoder;
pub use encode::encode;

pub(crate) use credentials::find_auth;
pub(crate) use sign::UnsignedRequest;

use crate::{
    Caching, ErrorClass, ProviderError,
    codec::{Codec, Credentials, Framing, VendorServer},
};
use reqwest::Url;

pub(crate) static CODEC: Codec = Codec {
    name: "bedrock",
    description: "AWS Bedrock Converse; without a key it uses the AWS credentials of the environment or the profile",
    server: VendorServer::AwsRegion,
    credentials: Credentials::BearerOrAws,
    headers: &[],
    framing: Framing::Binary,
    caching: || Caching::NONE,
    url,
    models_url: |_| {
        Err(ProviderError::new(ErrorClass::NotFound, "Bedrock has no list of models at this address."))
    },
    encode: |request, provider, _| encode(request, provider),
    decoder: |provider, _| Box::new(Decoder::new(provider.clone())),
};

/// Service name in a signature.
const SIGNING_SERVICE: &str = "bedrock";
/// Returns the address of requests for a model. A model's id may be a whole ARN, with slashes and colons in it.
fn url(base: &Url, model: &str) -> String {
    let base = base.as_str().trim_end_matches('/');
    let mut url = format!("{base}/model/");
    for byte in model.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => url.push(char::from(byte)),
            _ => url.push_str(&format!("%{byte:02X}")),
        }
    }
    url.push_str("/converse-stream");
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_ids_are_one_segment_of_the_path() {
        let base = Url::parse("https://bedrock-runtime.us-east-1.amazonaws.com/").unwrap();
        for (model, segment) in [
            ("amazon.nova-pro-v1:0", "amazon.nova-pro-v1%3A0"),
            ("arn:aws:bedrock:us-east-1:1:x/y", "arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ax%2Fy"),
            ("../a?b#c", "..%2Fa%3Fb%23c"),
            ("é", "%C3%A9"),
        ] {
            let url = url(&base, model);
            assert_eq!(
                url,
                format!("https://bedrock-runtime.us-east-1.amazonaws.com/model/{segment}/converse-stream")
            );
            assert_eq!(Url::parse(&url).unwrap().as_str(), url, "what is signed is what is sent");
        }
    }
}
