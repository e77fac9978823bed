//! Commands under a network allow list, against a server outside their namespace.

use super::*;
use crate::NetworkGate;
use futures::future::BoxFuture;
use octo_network::{AccessRequest, AccessVerdict, Resolver, UpstreamProxy};
use octo_protocol::ProxyChoice;
use std::{
    io::{self, BufRead, BufReader, Write},
    net::{IpAddr, Ipv4Addr, TcpListener},
    thread,
};

/// A gate that allows one host, and knows every name as this machine.
struct OneHost {
    host: String,
    asked: Mutex<Vec<AccessRequest>>,
}

impl NetworkGate for OneHost {
    fn is_limiting(&self) -> bool {
        true
    }

    fn decide(&self, request: AccessRequest) -> BoxFuture<'static, AccessVerdict> {
        let is_listed = request.destination.to_string() == self.host;
        self.asked.lock().unwrap().push(request);
        Box::pin(async move { if is_listed { AccessVerdict::Allowed } else { AccessVerdict::Refused } })
    }

    fn is_asking(&self, _call: CallId) -> bool {
        false
    }

    fn upstream(&self) -> UpstreamProxy {
        UpstreamProxy::new(&ProxyChoice::None)
    }

    fn resolver(&self) -> Arc<dyn Resolver> {
        struct ThisMachine;
        impl Resolver for ThisMachine {
            fn resolve(&self, _name: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
                Box::pin(async { Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)]) })
            }
        }
        Arc::new(ThisMachine)
    }
}

/// A server of this machine: it answers every request like a repository with one branch. Returns its port.
fn server() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
            let path = head.first().cloned().unwrap_or_default();
            let text = if path.contains("/info/refs") {
                format!("{}\trefs/heads/main\n", "1".repeat(40))
            } else {
                "served\n".to_owned()
            };
            let length = text.len();
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}"
            );
        }
    });
    port
}

/// Returns a session under an allow list with the server's name, or `None` where the system forbids namespaces: nothing
/// runs there, which is checked.
async fn limited() -> Option<(Fixture, Arc<OneHost>, u16)> {
    let port = server();
    let gate = Arc::new(OneHost { host: format!("service.test:{port}"), asked: Mutex::default() });
    let root = octo_testkit::test_folder();
    fs::create_dir(root.path().join("project")).unwrap();
    let supervision = crate::testing::supervision();
    let shell =
        Shell::new(ShellConfig { network: Some(gate.clone()), ..config(root.path(), supervision.clone()) });
    let fixture = Fixture { root, shell, supervision };
    if crate::try_network(&fixture.supervision).await.is_err() {
        let started = fixture.shell.run(fixture.command("touch started")).await;
        assert!(matches!(started, Err(ShellError::NoNetwork(_))), "{started:?}");
        assert!(!fixture.folder().join("started").exists());
        return None;
    }
    Some((fixture, gate, port))
}

#[tokio::test(flavor = "multi_thread")]
async fn everyday_programs_reach_a_listed_host_and_no_other() {
    let Some((fixture, gate, port)) = limited().await else { return };
    let served = fixture.output(&format!("curl -sS --max-time 20 http://service.test:{port}/a")).await;
    assert_eq!(served.trim(), "served");
    let served = fixture.output(&format!("curl -sS --max-time 20 -p http://service.test:{port}/a")).await;
    assert_eq!(served.trim(), "served", "through a tunnel");
    let socks =
        format!("curl -sS --max-time 20 -x ${{HTTP_PROXY/http:/socks5h:}} http://service.test:{port}/a");
    assert_eq!(fixture.output(&socks).await.trim(), "served", "over SOCKS");
    let branches = fixture.output(&format!("git ls-remote http://service.test:{port}/repository")).await;
    assert!(
        branches.starts_with(&"1".repeat(40)) && branches.trim_end().ends_with("refs/heads/main"),
        "{branches}"
    );
    let python = format!(
        "python3 -c 'import urllib.request as u; print(u.urlopen(\"http://service.test:{port}/a\").read())'"
    );
    assert_eq!(fixture.output(&python).await.trim(), "b'served\\n'");
    assert!(
        gate.asked.lock().unwrap().iter().all(|request| request.call.is_some()),
        "each names its command"
    );

    let refused = fixture.output("curl -sS --max-time 20 http://other.test/").await;
    assert!(refused.contains("other.test:80 is not on this folder's network allow list"), "{refused}");
    let direct =
        fixture.run(&format!("curl -sS --max-time 20 --noproxy '*' http://127.0.0.1:{port}/a")).await;
    assert_eq!(direct.state, CommandState::Exited { code: 7 }, "{direct:?}");
    assert!(!direct.output_model.contains("served"));
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_of_a_session_share_their_network_and_carry_no_proxy() {
    let Some((fixture, _gate, _port)) = limited().await else { return };
    let first = fixture.output("export KEPT=1; readlink /proc/self/ns/net; echo $HTTP_PROXY").await;
    let second = fixture.output("readlink /proc/self/ns/net; echo $HTTP_PROXY $KEPT").await;
    let (first, second): (Vec<_>, Vec<_>) =
        (first.split_whitespace().collect(), second.split_whitespace().collect());
    assert_eq!(first[0], second[0]);
    assert_ne!(first[0], fs::read_link("/proc/self/ns/net").unwrap().to_str().unwrap());
    // Each command has a proxy address of its own; what a command exports is carried, what Octo set is not.
    assert_ne!(first[1], second[1]);
    assert_eq!(second[2], "1");
    let carried = fs::read_to_string(fixture.root.path().join("scratch/carried.json")).unwrap();
    assert!(!carried.contains("PROXY") && carried.contains("KEPT"), "{carried}");
}
