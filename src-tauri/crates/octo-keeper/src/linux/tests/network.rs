//! Programs in a network namespace. Where the system forbids namespaces to users, it must say so, and no more can be
//! tried.

use super::{TestProgram, keeper, shell, wait_until};
use crate::{Keeper, NewNetwork, ProgramEnd};
use std::{
    fs,
    io::{Read, Write},
    net::{Ipv4Addr, TcpListener},
    sync::Arc,
};

fn network(keeper: &Keeper) -> Option<NewNetwork> {
    match keeper.new_network() {
        Ok(network) => Some(network),
        Err(error) => {
            assert!(error.raw_os_error().is_some(), "the system gives the reason: {error}");
            None
        }
    }
}

fn start(keeper: &Keeper, network: &Arc<crate::NetworkNamespace>, line: &str) -> TestProgram {
    let (mut start, output) = shell(line);
    start.network = Some(Arc::clone(network));
    TestProgram { tree: keeper.start(start).unwrap(), output, folder: None }
}

/// Returns the listening TCP sockets that the machine's own network has.
fn listening() -> Vec<String> {
    let tables =
        ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| fs::read_to_string(table).unwrap_or_default());
    let lines = tables.iter().flat_map(|table| table.lines().skip(1));
    lines.filter(|line| line.split_whitespace().nth(3) == Some("0A")).map(str::to_owned).collect()
}

#[test]
fn a_program_has_only_a_loopback_and_reaches_only_the_listener() {
    let keeper = keeper();
    let outside = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let outside_port = outside.local_addr().unwrap().port();
    let Some(NewNetwork { namespace, listener }) = network(&keeper) else { return };
    let namespace = Arc::new(namespace);
    let port = listener.local_addr().unwrap().port();
    // The socket is the namespace's: the machine's own table does not have it.
    let hexadecimal = format!(":{port:04X} ");
    let inode = format!(
        "{:?}",
        fs::read_link(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&listener)))
    );
    assert!(
        !listening().iter().any(|line| line.contains(&hexadecimal)
            && line.split_whitespace().nth(9).is_some_and(|number| inode.contains(number))),
        "nothing listens outside"
    );
    let line = format!(
        "echo routes: $(tail -n +2 /proc/net/route); (exec 3<>/dev/tcp/127.0.0.1/{outside_port}) 2>/dev/null && echo outside; \
         exec 3<>/dev/tcp/127.79.0.1/{port} && echo hello >&3 && cat <&3"
    );
    let mut started = start(&keeper, &namespace, &line);
    let (mut connection, _) = listener.accept().unwrap();
    assert_eq!(connection.local_addr().unwrap().ip(), Ipv4Addr::new(127, 79, 0, 1));
    let mut said = [0; 6];
    connection.read_exact(&mut said).unwrap();
    assert_eq!(&said, b"hello\n");
    connection.write_all(b"answer\n").unwrap();
    drop(connection);
    assert_eq!(started.output(), "routes:\nanswer\n");
    assert_eq!(started.tree.wait(), ProgramEnd::Exited { code: 0 });
}

#[test]
fn a_program_gains_no_rights_and_keeps_its_user() {
    let keeper = keeper();
    let Some(NewNetwork { namespace, .. }) = network(&keeper) else { return };
    let namespace = Arc::new(namespace);
    let line = "id -u; grep -E '^(CapInh|CapPrm|CapEff|CapAmb|NoNewPrivs)' /proc/self/status; \
                ip link set lo down 2>/dev/null; unshare -n true 2>/dev/null && echo entered; \
                nsenter -t 1 -n true 2>/dev/null && echo left; exit 0";
    let mut started = start(&keeper, &namespace, line);
    let zeroes = "0".repeat(16);
    let user = rustix::process::geteuid().as_raw();
    assert_eq!(
        started.output(),
        format!(
            "{user}\nCapInh:\t{zeroes}\nCapPrm:\t{zeroes}\nCapEff:\t{zeroes}\nCapAmb:\t{zeroes}\nNoNewPrivs:\t1\n"
        )
    );
}

#[test]
fn programs_of_one_namespace_reach_each_other_and_what_outlives_them_stays_inside() {
    let keeper = keeper();
    let Some(NewNetwork { namespace, .. }) = network(&keeper) else { return };
    let Some(NewNetwork { namespace: other, .. }) = network(&keeper) else { return };
    let (namespace, other) = (Arc::new(namespace), Arc::new(other));
    // It leaves its session and its parent.
    let server = start(
        &keeper,
        &namespace,
        "setsid -f python3 -c 'import socket,os\ns=socket.create_server((\"127.0.0.1\",7000))\nprint(os.readlink(\"/proc/self/ns/net\"),flush=True)\nwhile True: s.accept()[0].sendall(b\"served\")'; exit 0",
    );
    let TestProgram { tree, mut output, .. } = server;
    assert_eq!(tree.wait(), ProgramEnd::Exited { code: 0 });
    let mut name = Vec::new();
    while !name.ends_with(b"\n") {
        let mut byte = [0];
        output.read_exact(&mut byte).unwrap();
        name.push(byte[0]);
    }
    let outside = fs::read_link("/proc/self/ns/net").unwrap();
    assert_ne!(String::from_utf8_lossy(&name).trim(), outside.to_string_lossy());
    let ask = "(exec 3<>/dev/tcp/127.0.0.1/7000 && cat <&3) 2>/dev/null || echo nothing";
    assert_eq!(start(&keeper, &namespace, ask).output(), "served");
    assert_eq!(start(&keeper, &other, ask).output(), "nothing\n");
    tree.kill();
    wait_until("nothing is left", || tree.is_over());
}
