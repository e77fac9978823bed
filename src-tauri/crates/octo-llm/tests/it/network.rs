//! Reaching a server: headers, proxies, AWS credentials.

use crate::marked;
use futures::StreamExt;
use octo_llm::{
    Endpoint, ErrorClass, ModelEvent, ModelRequest, Network, ProviderError, Proxy, bedrock::AwsEnvironment,
    connect,
};
use octo_protocol::{Block, Message, MessageId, Meta, Origin, Protocol, Role, TurnId};
use octo_testkit::{ModelServer, Reply, Script, TempHome};
use secrecy::SecretString;
use std::{net::Ipv4Addr, sync::Arc};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{
    TlsAcceptor, rustls,
    rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tokio_util::sync::CancellationToken;

async fn ask(endpoint: Endpoint) -> Result<(), ProviderError> {
    let blocks = vec![Block::Text { text: "hi".to_owned() }];
    let meta = Meta::new(Origin::Person, 0);
    let message = Message { id: MessageId::new(), turn: TurnId::new(), role: Role::User, blocks, meta };
    let request = ModelRequest {
        model: "vendor.model-v1:0".to_owned(),
        system: Arc::from("You are Octo."),
        tools: Arc::from([]),
        cache: marked(std::slice::from_ref(&message)),
        messages: vec![message],
        images: Arc::default(),
        vision: true,
        documents: true,
        max_output: 100,
        effort: None,
    };
    let mut stream = connect(endpoint)?.stream(request, CancellationToken::new());
    while let Some(event) = stream.next().await {
        if let ModelEvent::Finished(_) = event? {
            return Ok(());
        }
    }
    panic!("a stream without an end")
}

fn endpoint(protocol: Protocol, server: &ModelServer, network: Network) -> Endpoint {
    let key = Some(SecretString::from("sk-test-0123456789"));
    Endpoint { network, ..Endpoint::new(protocol, server.url(), key) }
}

fn with_headers(headers: &[(&str, &str)]) -> Network {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), SecretString::from(*value)));
    Network { headers: headers.collect(), ..Network::default() }
}

#[tokio::test]
async fn custom_headers_are_sent_with_octos_own() {
    for protocol in Protocol::ALL {
        let server = ModelServer::start(Reply::text("hi"));
        let network = with_headers(&[("X-Team", " blue "), ("user-agent", "other/1.0")]);
        ask(endpoint(protocol, &server, network)).await.unwrap();
        let request = &server.requests()[0];
        assert_eq!(request.header("x-team"), Some("blue"), "{protocol:?}");
        assert_eq!(request.header("user-agent"), Some("other/1.0"));
        let names =
            |header_name: &str| request.headers.iter().filter(|(name, _)| name == header_name).count();
        for name in ["content-type", "accept", "host", "user-agent", "x-team"] {
            assert_eq!(names(name), 1, "{protocol:?}: {name}");
        }
    }
}

#[tokio::test]
async fn header_values_do_not_appear_in_errors() {
    let value = "gateway-s3cret";
    for reply in [
        Reply::error(403, "permission_error", format!("no such tenant: {value}")),
        Reply::raw(400, "text/plain", format!("bad header x-tenant={value}")),
        Reply::text("x").then_error("overloaded_error", format!("tenant {value} is overloaded")),
    ] {
        for protocol in Protocol::ALL {
            let server = ModelServer::start(reply.clone());
            let network = with_headers(&[("x-tenant", value)]);
            let error = ask(endpoint(protocol, &server, network)).await.unwrap_err();
            assert!(!error.message.contains("s3cret") && error.message.contains("[header]"), "{error}");
        }
    }
}

#[tokio::test]
async fn a_header_with_a_newline_is_refused_before_anything_is_sent() {
    let server = ModelServer::start(Script::new());
    let network = with_headers(&[("x-tenant", "one\r\nx-evil: s3cret")]);
    let error = ask(endpoint(Protocol::OpenaiChat, &server, network)).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Header);
    assert!(!error.message.contains("s3cret"), "{error}");
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_server_on_this_machine_is_reached_without_the_proxy() {
    // Nothing listens there: a request through it would fail.
    let proxy = || Proxy::Manual(SecretString::from("http://127.0.0.1:9"));
    for protocol in Protocol::ALL {
        let server = ModelServer::start(Reply::text("hi"));
        let network = Network { proxy: proxy(), ..Network::default() };
        ask(endpoint(protocol, &server, network)).await.unwrap();
    }
}

#[tokio::test]
async fn an_internet_server_is_reached_through_the_proxy_without_showing_its_password() {
    // The scripted server acts as the proxy: it refuses to proxy, which shows that it was contacted.
    let server = ModelServer::start(Script::new());
    let address = server.url().replace("http://", "http://me:s3cretpass@").replace("/v1", "");
    let network = Network { proxy: Proxy::Manual(SecretString::from(address)), ..Network::default() };
    let key = Some(SecretString::from("sk-test-0123456789"));
    let base = "https://api.host.invalid/v1";
    let error =
        ask(Endpoint { network, ..Endpoint::new(Protocol::OpenaiChat, base, key) }).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Network, "{error}");
    assert!(error.message.contains("tunnel") && !error.message.contains("s3cret"), "{error}");
}

fn aws(server: &ModelServer, variables: &[(&str, &str)], home: &TempHome) -> Endpoint {
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let aws = AwsEnvironment::new(variables, Some(home.home()));
    Endpoint { aws, ..Endpoint::new(Protocol::Bedrock, server.url(), None) }
}

const KEYS: [(&str, &str); 3] = [
    ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"),
    ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
    ("AWS_REGION", "eu-west-1"),
];

#[tokio::test]
async fn without_a_key_requests_to_bedrock_are_signed() {
    let home = TempHome::new();
    let server = ModelServer::start(Script::from_fn(|_| Reply::text("hi")));
    ask(aws(&server, &KEYS, &home)).await.unwrap();
    ask(aws(&server, &[&KEYS[..], &[("AWS_SESSION_TOKEN", "the-token")]].concat(), &home)).await.unwrap();
    ask(aws(&server, &[("AWS_BEARER_TOKEN_BEDROCK", "bedrock-api-key")], &home)).await.unwrap();
    std::fs::create_dir_all(home.home().join(".aws")).unwrap();
    let profile = "[work]\naws_access_key_id = AKIDWORK\naws_secret_access_key = xyz\nregion = us-west-2\n";
    std::fs::write(home.home().join(".aws/credentials"), profile).unwrap();
    ask(aws(&server, &[("AWS_PROFILE", "work")], &home)).await.unwrap();
    server.assert_clean();
    let requests = server.requests();
    let authorization = |index: usize| requests[index].header("authorization").unwrap();
    let is_signed = |index: usize, signer: &str, region: &str, headers: &str| {
        let found = authorization(index);
        let start = format!("AWS4-HMAC-SHA256 Credential={signer}/");
        let end = format!("/{region}/bedrock/aws4_request, SignedHeaders={headers}, Signature=");
        assert!(found.starts_with(&start) && found.contains(&end), "{found}");
    };
    let signed_headers = "content-type;host;x-amz-date";
    is_signed(0, "AKIDEXAMPLE", "eu-west-1", signed_headers);
    is_signed(1, "AKIDEXAMPLE", "eu-west-1", &format!("{signed_headers};x-amz-security-token"));
    assert_eq!(requests[1].header("x-amz-security-token"), Some("the-token"));
    assert_eq!(authorization(2), "Bearer bedrock-api-key");
    is_signed(3, "AKIDWORK", "us-west-2", signed_headers);
    assert!(requests.iter().all(|request| request.path == "/v1/model/vendor.model-v1%3A0/converse-stream"));
    assert!(requests.iter().all(|request| request.model() == "vendor.model-v1:0"));
}

#[tokio::test]
async fn aws_credentials_that_are_missing_or_refused_are_named_and_never_shown() {
    let home = TempHome::new();
    let server = ModelServer::start(Script::new());
    let error = ask(aws(&server, &[], &home)).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Auth, "{error}");
    let error = ask(aws(&server, &KEYS[..2], &home)).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Address, "no region: {error}");
    assert!(server.requests().is_empty(), "nothing is sent unsigned");

    // AWS repeats the canonical request, token included, when a signature is wrong.
    let token = "FwoGZXIvYXdzEXAMPLETOKEN";
    for (status, name, class) in [
        (403, "InvalidSignatureException", ErrorClass::Auth),
        (403, "ExpiredTokenException:http://internal.amazon.com/", ErrorClass::Auth),
        (403, "UnrecognizedClientException", ErrorClass::Auth),
        (403, "AccessDeniedException", ErrorClass::Forbidden),
        (429, "ThrottlingException", ErrorClass::RateLimited),
        (400, "ValidationException", ErrorClass::Invalid),
        (404, "ResourceNotFoundException", ErrorClass::NotFound),
        (424, "ModelErrorException", ErrorClass::Overloaded),
        (503, "ServiceUnavailableException", ErrorClass::Overloaded),
    ] {
        let message =
            format!("The Canonical String should have been 'x-amz-security-token:{token}' ({})", KEYS[1].1);
        let server = ModelServer::start(Reply::error(status, name, message));
        let variables = [&KEYS[..], &[("AWS_SESSION_TOKEN", token)]].concat();
        let error = ask(aws(&server, &variables, &home)).await.unwrap_err();
        assert_eq!(error.class, class, "{name}: {error}");
        assert!(!error.message.contains("EXAMPLE"), "{error}");
    }
}

/// Starts a server behind TLS, with a certificate of an untrusted authority. Returns its address; it ends with
/// the test.
async fn behind_tls(server: &ModelServer) -> String {
    let certificates = CertificateDer::pem_slice_iter(include_bytes!("../tls/server.pem"));
    let certificates = certificates.collect::<Result<Vec<_>, _>>().unwrap();
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("../tls/server.key.pem")).unwrap();
    let config =
        rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(certificates, key);
    let acceptor = TlsAcceptor::from(Arc::new(config.unwrap()));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let upstream = server.url().replace("http://", "").replace("/v1", "");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, upstream) = (acceptor.clone(), upstream.clone());
            tokio::spawn(async move {
                let Ok(mut stream) = acceptor.accept(stream).await else { return };
                let mut server = TcpStream::connect(upstream).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut stream, &mut server).await;
            });
        }
    });
    format!("https://{address}/v1")
}

#[tokio::test]
async fn certificates_are_verified_and_custom_authorities_trusted() {
    let server = ModelServer::start(Reply::text("hi"));
    let address = behind_tls(&server).await;
    let request_with = |extra_ca: Option<&[u8]>| {
        let network = Network { extra_ca: extra_ca.map(<[u8]>::to_vec), ..Network::default() };
        let key = Some(SecretString::from("sk-test-0123456789"));
        Endpoint { network, ..Endpoint::new(Protocol::OpenaiResponses, address.clone(), key) }
    };
    let error = ask(request_with(None)).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Untrusted, "it would be the same every time: {error}");
    assert!(!error.class.is_retryable());
    assert!(error.message.to_lowercase().contains("certificate"), "{error}");
    assert!(server.requests().is_empty(), "the key never left");
    ask(request_with(Some(include_bytes!("../tls/authority.pem")))).await.unwrap();
    assert_eq!(server.requests().len(), 1);
}
