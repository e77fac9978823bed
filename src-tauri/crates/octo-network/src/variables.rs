//! The variables by which programs find a proxy.

use std::net::SocketAddrV4;

/// Hosts that programs reach without the proxy: those of the namespace itself.
const DIRECT_HOSTS: &str = "localhost,127.0.0.0/8,127.0.0.1,::1";

/// Returns the variables that make programs use the proxy at this address. `ALL_PROXY` names the same proxy and not
/// SOCKS: some programs fail at their start if they cannot speak it.
pub fn proxy_variables(address: SocketAddrV4) -> Vec<(String, String)> {
    let proxy = format!("http://{address}");
    let values =
        [("HTTP_PROXY", &*proxy), ("HTTPS_PROXY", &proxy), ("ALL_PROXY", &proxy), ("NO_PROXY", DIRECT_HOSTS)];
    let both_cases = |(name, value): (&str, &str)| {
        [name.to_owned(), name.to_ascii_lowercase()].map(|name| (name, value.to_owned()))
    };
    let mut variables: Vec<_> = values.into_iter().flat_map(both_cases).collect();
    // Node.js reads the others only with this one.
    variables.push(("NODE_USE_ENV_PROXY".to_owned(), "1".to_owned()));
    variables
}
