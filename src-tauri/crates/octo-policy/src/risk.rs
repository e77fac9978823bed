//! Commands that always ask, each with its kind of risk: publishing, pushing, installing and the like.
//!
//! Safety does not depend on this table, because anything not known to be harmless asks anyway. The risk explains the
//! question to the person. No "always" rule covers such a command ([`crate::rules`] names none).

use crate::{
    context::UNKNOWN,
    scan::{Call, SHELLS},
};
use octo_protocol::Risk;

/// Commands by name and first operand; an empty list of operands matches any.
#[rustfmt::skip]
const TABLE: &[(&[&str], &[&str], Risk)] = &[
    (&["npm", "pnpm", "yarn", "bun"], &["publish", "unpublish", "deprecate", "dist-tag", "owner", "access", "token", "login", "adduser"], Risk::Publishes),
    (&["cargo"], &["publish", "yank", "owner", "login"], Risk::Publishes),
    (&["twine"], &["upload", "register"], Risk::Publishes),
    (&["gem"], &["push", "yank", "owner"], Risk::Publishes),
    (&["poetry", "flit", "hatch", "pdm", "uv", "mvn", "gradle", "./gradlew", "sbt", "lein", "dart", "vsce", "ovsx", "goreleaser", "semantic-release", "lerna", "changeset"], &["publish", "release", "deploy", "upload", "publishToMavenCentral"], Risk::Publishes),
    (&["docker", "podman", "buildah", "skopeo", "helm", "oras", "crane", "nerdctl"], &["push", "copy", "login", "registry"], Risk::Publishes),
    (&["vercel", "netlify", "wrangler", "firebase", "fly", "flyctl", "heroku", "surge", "now", "eb", "serverless", "sls", "cdk", "pulumi"], &[], Risk::Publishes),
    (&["gh", "glab", "hub", "tea"], &["pr", "release", "repo", "issue", "gist", "workflow", "run", "secret", "api", "auth", "mr", "create", "push"], Risk::Publishes),
    (&["apt", "apt-get", "aptitude", "dnf", "yum", "zypper", "pacman", "apk", "brew", "port", "snap", "flatpak", "nix-env", "emerge", "xbps-install", "winget", "choco", "scoop", "dpkg", "rpm", "pkg"], &[], Risk::Installs),
    (&["npm"], &["install", "i", "in", "ins", "add", "ci", "update", "up", "upgrade", "rebuild", "link", "exec", "init", "create", "isntall", "install-test", "it", "uninstall", "remove", "rm", "un"], Risk::Installs),
    (&["pnpm", "bun"], &["install", "i", "add", "update", "up", "dlx", "create", "x", "remove", "rm"], Risk::Installs),
    (&["yarn"], &["install", "add", "up", "upgrade", "dlx", "create", "global", "remove"], Risk::Installs),
    (&["npx", "pnpx", "bunx", "uvx", "pipx", "dotnet-tool", "corepack", "easy_install", "conda", "mamba", "micromamba", "opam", "cpan", "cpanm", "luarocks"], &[], Risk::Installs),
    (&["pip", "pip2", "pip3", "uv"], &["install", "uninstall", "download", "wheel", "pip", "add", "sync", "tool", "remove", "run"], Risk::Installs),
    (&["poetry", "pdm", "pipenv"], &["install", "add", "update", "remove", "sync"], Risk::Installs),
    (&["cargo"], &["install", "uninstall", "binstall", "add", "update"], Risk::Installs),
    (&["gem"], &["install", "uninstall", "update"], Risk::Installs),
    (&["bundle"], &["install", "update", "add"], Risk::Installs),
    (&["composer", "cabal", "stack", "mix", "hex", "rustup", "nvm", "pyenv", "rbenv", "asdf", "mise", "sdk", "ghcup", "volta", "fnm"], &["install", "require", "update", "deps.get", "toolchain", "component", "target", "self", "uninstall", "use", "default", "remove"], Risk::Installs),
    (&["go"], &["install", "get"], Risk::Installs),
    (&["systemctl", "service", "launchctl", "initctl", "rc-service", "update-rc.d", "chkconfig", "loginctl", "crontab", "at", "batch", "shutdown", "reboot", "halt", "poweroff", "init", "telinit", "mount", "umount", "swapon", "swapoff", "useradd", "userdel", "usermod", "adduser", "deluser", "groupadd", "passwd", "chpasswd", "chsh", "visudo", "iptables", "ip6tables", "nft", "ufw", "firewall-cmd", "sysctl", "modprobe", "insmod", "rmmod", "setenforce", "setcap", "chattr", "hostnamectl", "timedatectl", "nmcli", "ifconfig", "ip", "route", "defaults", "osascript", "scutil", "networksetup", "csrutil", "spctl", "reg", "schtasks", "kill", "pkill", "killall", "skill", "fuser", "renice", "chown", "chgrp", "update-alternatives", "ldconfig", "losetup", "mknod", "fdisk", "parted", "mkswap", "lvremove", "vgremove", "pvremove", "zfs", "zpool", "btrfs"], &[], Risk::System),
    (&["sudo", "doas", "su", "pkexec", "run0", "runuser", "chroot", "nsenter", "unshare", "setpriv", "machinectl", "capsh"], &[], Risk::Privileged),
    (&["secret-tool", "security", "keyring", "kwallet-query", "kwalletcli", "cmdkey", "vault", "pass", "gopass", "bw", "op", "gpg", "gpg2", "ssh-add", "ssh-keygen", "lssecret"], &[], Risk::Keychain),
    (&["ssh", "scp", "sftp", "rsync", "mosh", "kubectl", "oc", "helm", "terraform", "tofu", "ansible", "ansible-playbook", "aws", "gcloud", "az", "doctl", "rclone", "s3cmd", "psql", "mysql", "mongosh", "mongo", "redis-cli", "telnet", "nc", "ncat", "netcat", "socat", "ftp", "lftp"], &[], Risk::Remote),
    (&["shred", "srm", "wipe", "trash-empty", "scrub"], &[], Risk::Deletes),
    (&["docker", "podman"], &["rm", "rmi", "prune", "system", "volume", "kill", "stop", "down"], Risk::Deletes),
    (&["dropdb", "dropuser", "tmutil", "fstrim", "mkfs", "wipefs", "dd"], &[], Risk::Deletes),
];

/// Programs that download.
const FETCHERS: &[&str] =
    &["curl", "wget", "fetch", "http", "https", "xh", "aria2c", "lwp-request", "lynx", "GET"];

/// Programs that run code they read.
const INTERPRETERS: &[&str] = &[
    "python",
    "python2",
    "python3",
    "perl",
    "ruby",
    "node",
    "nodejs",
    "deno",
    "bun",
    "php",
    "lua",
    "Rscript",
    "tclsh",
    "eval",
    "source",
    ".",
    "osascript",
    "pwsh",
    "powershell",
];

/// Returns the risk of a call; `None` if it has none with a name.
pub(crate) fn of(call: &Call) -> Option<Risk> {
    let name = call.name();
    let operands = call.operands();
    if (SHELLS.contains(&name.as_str()) || INTERPRETERS.contains(&name.as_str()))
        && call.input_commands.iter().any(|from| FETCHERS.contains(&from.as_str()))
    {
        return Some(Risk::RunsDownload);
    }
    if name == "git" {
        return git(call);
    }
    if name == "chmod" && operands.first().is_some_and(|mode| sets_id(mode)) {
        return Some(Risk::System);
    }
    if matches!(name.as_str(), "dbus-send" | "busctl" | "gdbus" | "qdbus")
        && call.arguments().any(|word| word.to_ascii_lowercase().contains("secret"))
    {
        return Some(Risk::Keychain);
    }
    if name == "python" || name == "python3" {
        let words: Vec<&str> = call.arguments().collect();
        if let ["-m", "pip" | "ensurepip" | "pipx" | "uv", ..] = words.as_slice() {
            return Some(Risk::Installs);
        }
        if let ["-m", "twine", ..] = words.as_slice() {
            return Some(Risk::Publishes);
        }
    }
    if name.starts_with("mkfs") {
        return Some(Risk::Deletes);
    }
    if name == "make" || name == "just" || name == "task" || name == "rake" {
        let publishes = ["publish", "release", "deploy", "upload"];
        return operands.iter().any(|target| publishes.contains(target)).then_some(Risk::Publishes);
    }
    // `yarn` without an operand installs.
    if name == "yarn" && operands.is_empty() {
        return Some(Risk::Installs);
    }
    TABLE.iter().find_map(|(names, verbs, risk)| {
        let verb = operands.first().copied().unwrap_or_default();
        let matches = names.contains(&name.as_str()) && (verbs.is_empty() || verbs.contains(&verb));
        matches.then_some(*risk)
    })
}

/// Returns whether a mode sets a set-user-ID or set-group-ID bit.
fn sets_id(mode: &str) -> bool {
    let octal = mode.chars().all(|c| c.is_digit(8));
    (octal && mode.trim_start_matches('0').len() == 4) || (!octal && mode.contains('s'))
}

fn git(call: &Call) -> Option<Risk> {
    let mut words = call.arguments().peekable();
    // Skips the options before the subcommand, some of which have a separate value.
    while let Some(word) = words.next_if(|word| word.starts_with('-')) {
        if matches!(word, "-c" | "-C" | "--git-dir" | "--work-tree" | "--namespace") {
            words.next();
        }
    }
    let verb = words.next()?;
    let rest: Vec<&str> = words.collect();
    let has = |options: &[&str]| {
        rest.iter().any(|word| options.iter().any(|option| is_given(word, option, values_of(verb))))
    };
    match verb {
        "push" | "send-email" | "send-pack" | "request-pull" | "svn" | "p4" => Some(Risk::Pushes),
        "rebase" | "filter-branch" | "filter-repo" | "replace" | "fast-import" | "update-ref" | "reflog"
        | "prune" => {
            let only_shows = verb == "reflog" && !has(&["expire", "delete"]);
            (!only_shows).then_some(Risk::RewritesHistory)
        }
        "reset" => has(&["--hard", "--merge", "--keep"]).then_some(Risk::RewritesHistory),
        "commit" => has(&["--amend", "--fixup"]).then_some(Risk::RewritesHistory),
        "gc" => has(&["--prune", "--aggressive"]).then_some(Risk::RewritesHistory),
        "branch" => has(&["-D", "-d", "--delete", "-f", "--force", "-M"]).then_some(Risk::RewritesHistory),
        "tag" => has(&["-d", "--delete", "-f", "--force"]).then_some(Risk::RewritesHistory),
        "stash" => has(&["drop", "clear"]).then_some(Risk::RewritesHistory),
        "checkout" => has(&["-f", "--force", "-B", "--orphan"]).then_some(Risk::RewritesHistory),
        "switch" => has(&["-f", "--force", "-C", "--force-create", "--discard-changes", "--orphan"])
            .then_some(Risk::RewritesHistory),
        "worktree" => has(&["remove", "prune"]).then_some(Risk::Deletes),
        "remote" => has(&["remove", "rm", "set-url", "add", "rename"]).then_some(Risk::Remote),
        "clean" => Some(Risk::Deletes),
        "credential" | "credential-store" | "credential-cache" => Some(Risk::Keychain),
        "clone" | "fetch" | "pull" | "submodule" | "lfs" | "archive"
            if verb != "archive" || has(&["--remote"]) =>
        {
            Some(Risk::Remote)
        }
        _ => None,
    }
}

/// Returns the letters of a git command's short options that may have an attached value.
fn values_of(verb: &str) -> &'static str {
    match verb {
        "branch" => "u",
        "checkout" => "bB",
        "commit" => "CcFmtSu",
        "stash" => "m",
        "switch" => "cC",
        "tag" => "Fmnu",
        _ => "",
    }
}

/// Returns whether a word gives an option, or is a subcommand of this name. Git accepts prefixes of long options, and
/// several short options after one dash.
fn is_given(word: &str, option: &str, values: &str) -> bool {
    if let Some(long) = option.strip_prefix("--") {
        let given = word.strip_prefix("--").map(|given| given.split('=').next().unwrap_or(given));
        return given.is_some_and(|given| !given.is_empty() && long.starts_with(given));
    }
    match (option.strip_prefix('-'), word.strip_prefix('-')) {
        (Some(letter), Some(letters)) if !letters.starts_with('-') => {
            let end = letters.find(|c| values.contains(c)).map_or(letters.len(), |at| at + 1);
            letters.get(..end).is_some_and(|letters| letters.contains(letter))
        }
        (None, None) => word == option,
        _ => false,
    }
}

/// For a script that would be piped from the network into a shell, returns a line that only downloads it for
/// reading. `None` if the address is unknown.
pub(crate) fn download_only(calls: &[Call]) -> Option<String> {
    let fetch = calls.iter().find(|call| FETCHERS.contains(&call.name().as_str()))?;
    let address =
        fetch.arguments().find(|word| word.starts_with("https://") || word.starts_with("http://"))?;
    let safe = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#[]@!$&()*+,;=%".contains(c);
    if address.contains(UNKNOWN) || !address.chars().all(safe) {
        return None;
    }
    Some(format!("curl -fsSL --proto '=https,http' -o downloaded-script.sh '{address}'"))
}
