//! Signs requests with AWS credentials (Signature Version 4).

use super::credentials::Credentials;
use crate::{ErrorClass, ProviderError};
use aws_credential_types::Credentials as AwsCredentials;
use aws_sigv4::{
    http_request::{SignableBody, SignableRequest, SigningSettings, sign as sign_request},
    sign::v4::SigningParams,
};
use secrecy::ExposeSecret;
use std::time::SystemTime;

/// Name and value of a signed header, or of the signature itself.
pub(crate) type SignedHeader = (String, String);

/// Request to sign.
pub(crate) struct UnsignedRequest<'a> {
    /// `POST`.
    pub(crate) method: &'a str,
    /// Whole address, exactly as sent.
    pub(crate) url: &'a str,
    /// Headers that the signature covers, in addition to `host`.
    pub(crate) headers: &'a [(&'a str, &'a str)],
    /// Body, exactly as sent.
    pub(crate) body: &'a [u8],
}

/// Returns the headers that a signed request carries in addition to its own.
///
/// # Errors
///
/// Returns [`ErrorClass::Auth`] when the credentials contain characters that a header cannot carry; they are
/// never in the message.
pub(crate) fn sign(
    request: &UnsignedRequest<'_>,
    credentials: &Credentials,
    region: &str,
    service: &str,
    now: SystemTime,
) -> Result<Vec<SignedHeader>, ProviderError> {
    let error =
        || ProviderError::new(ErrorClass::Auth, "The request cannot be signed with these AWS credentials.");
    let identity = AwsCredentials::new(
        credentials.access_key.as_str(),
        credentials.secret_key.expose_secret(),
        credentials.session_token.as_ref().map(|token| token.expose_secret().to_owned()),
        None,
        "octo",
    )
    .into();
    let parameters = SigningParams::builder()
        .identity(&identity)
        .region(region)
        .name(service)
        .time(now)
        .settings(SigningSettings::default())
        .build()
        .map_err(|_| error())?
        .into();
    let signable = SignableRequest::new(
        request.method,
        request.url,
        request.headers.iter().copied(),
        SignableBody::Bytes(request.body),
    )
    .map_err(|_| error())?;
    let (instructions, _) = sign_request(signable, &parameters).map_err(|_| error())?.into_parts();
    Ok(instructions.headers().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::SecretString;
    use std::time::Duration;

    /// 2015-08-30T12:36:00Z.
    const SIGNING_TIME: Duration = Duration::from_secs(1_440_938_160);
    const TOKEN: &str = "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267";

    fn signed(request: &UnsignedRequest<'_>, token: Option<&str>, service: &str) -> Vec<SignedHeader> {
        let credentials = Credentials {
            access_key: "AKIDEXAMPLE".to_owned(),
            secret_key: SecretString::from("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
            session_token: token.map(SecretString::from),
        };
        sign(request, &credentials, "us-east-1", service, SystemTime::UNIX_EPOCH + SIGNING_TIME).unwrap()
    }

    const FORM_HASH: &str = "9095672bbd1f56dfc5b65f3e153adc8731a4a654192329106275f4c7b24d0b6e";

    /// One of AWS's published vectors: a request and the `Authorization` header it must produce.
    struct Vector {
        name: &'static str,
        method: &'static str,
        path: &'static str,
        headers: &'static [(&'static str, &'static str)],
        token: Option<&'static str>,
        body: &'static [u8],
        signed_headers: &'static str,
        signature: &'static str,
    }

    const PLAIN: Vector = Vector {
        name: "",
        method: "GET",
        path: "/",
        headers: &[],
        token: None,
        body: b"",
        signed_headers: "host;x-amz-date",
        signature: "",
    };

    /// From AWS's signing test suite (`aws-signing-test-suite/v4`, published with its signers).
    const VECTORS: &[Vector] = &[
        Vector {
            name: "get-vanilla",
            signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
            ..PLAIN
        },
        Vector {
            name: "get-vanilla-query-order-key-case",
            path: "/?Param2=value2&Param1=value1",
            signature: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
            ..PLAIN
        },
        Vector {
            name: "get-unreserved",
            path: "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
            signature: "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f",
            ..PLAIN
        },
        Vector {
            name: "get-header-value-trim",
            headers: &[("my-header1", " value1"), ("my-header2", " \"a   b   c\"")],
            signed_headers: "host;my-header1;my-header2;x-amz-date",
            signature: "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
            ..PLAIN
        },
        Vector {
            name: "get-vanilla-with-session-token",
            token: Some(TOKEN),
            signed_headers: "host;x-amz-date;x-amz-security-token",
            signature: "07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8",
            ..PLAIN
        },
        Vector {
            name: "post-vanilla",
            method: "POST",
            signature: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
            ..PLAIN
        },
        Vector {
            name: "post-vanilla-query",
            method: "POST",
            path: "/?Param1=value1",
            signature: "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11",
            ..PLAIN
        },
        Vector {
            name: "post-header-value-case",
            method: "POST",
            headers: &[("my-header1", "VALUE1")],
            signed_headers: "host;my-header1;x-amz-date",
            signature: "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d",
            ..PLAIN
        },
        Vector {
            name: "post-x-www-form-urlencoded",
            method: "POST",
            headers: &[
                ("content-type", "application/x-www-form-urlencoded"),
                ("content-length", "13"),
                ("x-amz-content-sha256", FORM_HASH),
            ],
            body: b"Param1=value1",
            signed_headers: "content-length;content-type;host;x-amz-content-sha256;x-amz-date",
            signature: "d3875051da38690788ef43de4db0d8f280229d82040bfac253562e56c3f20e0b",
            ..PLAIN
        },
        Vector {
            name: "post-x-www-form-urlencoded-parameters",
            method: "POST",
            headers: &[
                ("content-type", "application/x-www-form-urlencoded; charset=utf-8"),
                ("content-length", "13"),
                ("x-amz-content-sha256", FORM_HASH),
            ],
            body: b"Param1=value1",
            signed_headers: "content-length;content-type;host;x-amz-content-sha256;x-amz-date",
            signature: "328d1b9eaadca9f5818ef05e8392801e091653bafec24fcab71e7344e7f51422",
            ..PLAIN
        },
    ];

    #[test]
    fn published_signing_vectors_match() {
        for vector in VECTORS {
            let url = format!("https://example.amazonaws.com{}", vector.path);
            let request = UnsignedRequest {
                method: vector.method,
                url: &url,
                headers: vector.headers,
                body: vector.body,
            };
            let found = signed(&request, vector.token, "service");
            let header = |name: &str| {
                found.iter().find(|(header_name, _)| header_name == name).map(|(_, value)| value.as_str())
            };
            let expected = format!(
                "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders={}, Signature={}",
                vector.signed_headers, vector.signature
            );
            assert_eq!(header("authorization"), Some(expected.as_str()), "{}", vector.name);
            assert_eq!(header("x-amz-date"), Some("20150830T123600Z"), "{}", vector.name);
            assert_eq!(header("x-amz-security-token"), vector.token, "{}", vector.name);
        }
    }

    /// `double-encode-path` of the same suite, which has its own server and credentials: characters already
    /// escaped in an address are escaped again in the signed text.
    #[test]
    fn an_escaped_path_matches_the_published_signature() {
        let credentials = Credentials {
            access_key: "ANOTREAL".to_owned(),
            secret_key: SecretString::from("notrealrnrELgWzOk3IfjzDKtFBhDby"),
            session_token: None,
        };
        let url =
            "https://tj9n5r0m12.execute-api.us-east-1.amazonaws.com/test/@connections/JBDvjfGEIAMCERw%3D";
        let request = UnsignedRequest { method: "POST", url, headers: &[], body: b"" };
        let now = SystemTime::UNIX_EPOCH + SIGNING_TIME;
        let found = sign(&request, &credentials, "us-east-1", "service", now).unwrap();
        let signature = "57d157672191bac40bae387e48bbe14b15303c001fdbb01f4abf295dccb09705";
        assert!(found.iter().any(|(_, value)| value.ends_with(signature)), "{found:?}");
    }

    #[test]
    fn every_part_of_a_request_is_covered() {
        let url = "https://bedrock-runtime.us-east-1.amazonaws.com/model/a%3A0/converse-stream";
        let headers = [("content-type", "application/json")];
        let unsigned = UnsignedRequest { method: "POST", url, headers: &headers, body: b"{}" };
        let signature = |request: &UnsignedRequest<'_>| signed(request, None, "bedrock");
        let expected = signature(&unsigned);
        assert_eq!(signature(&unsigned), expected);
        let debug = format!("{expected:?}");
        assert!(debug.contains("SignedHeaders=content-type;host;x-amz-date,"), "{debug}");
        for other in [
            UnsignedRequest { body: b"{ }", ..unsigned },
            UnsignedRequest { url: &url.replace("%3A", ":"), ..unsigned },
            UnsignedRequest { url: &url.replace("us-east-1", "us-east-2"), ..unsigned },
            UnsignedRequest { headers: &[("content-type", "text/plain")], ..unsigned },
        ] {
            assert_ne!(signature(&other), expected, "{}", other.url);
        }
    }

    #[test]
    fn credentials_unfit_for_headers_are_refused_without_being_shown() {
        let credentials = Credentials {
            access_key: "AKID".to_owned(),
            secret_key: SecretString::from("s3cret"),
            session_token: Some(SecretString::from("t0ken\nx-evil: 1")),
        };
        let request =
            UnsignedRequest { method: "POST", url: "https://host.example/", headers: &[], body: b"" };
        match sign(&request, &credentials, "us-east-1", "bedrock", SystemTime::UNIX_EPOCH + SIGNING_TIME) {
            Ok(found) => {
                let token = found.iter().find(|(name, _)| name == "x-amz-security-token").unwrap();
                assert!(reqwest::header::HeaderValue::from_str(&token.1).is_err());
            }
            Err(error) => assert!(!error.message.contains("t0ken"), "{error}"),
        }
    }
}
