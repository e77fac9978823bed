use super::*;

#[test]
fn secrets_are_known_by_name_and_place() {
    for path in [
        "/p/.env",
        "/p/.ENV",
        "/p/.env.local",
        "/p/.env.production",
        "/p/prod.env",
        "/p/.envrc",
        "/h/.ssh/config",
        "/h/.ssh",
        "/h/.aws/credentials",
        "/h/.aws/x/y",
        "/h/.gnupg/pubring.kbx",
        "/p/server.pem",
        "/p/id_rsa",
        "/p/id_ed25519",
        "/p/id_rsa.old",
        "/h/.netrc",
        "/h/.npmrc",
        "/h/.pypirc",
        "/p/credentials.json",
        "/h/.docker/config.json",
        "/h/.git-credentials",
        "/h/.config/google-chrome/Default/Cookies",
        "/h/Library/Application Support/Google/Chrome/Default/Login Data",
        "/h/.mozilla/firefox/x/places.sqlite",
        "/h/.local/share/keyrings/login.keyring",
        "/h/Library/Keychains/login.keychain-db",
        "/etc/shadow",
        "/h/.kube/config",
        "/h/.config/gh/hosts.yml",
        "/h/.octo/octo.db",
        "/p/terraform.tfstate",
        "/p/x.kdbx",
        "/h/AppData/Local/Google/Chrome/User Data/Default/Network/Cookies",
        "/p/.env.example/../.env",
    ] {
        assert!(is_secret(Path::new(path)), "{path} is secret");
    }
    for path in [
        "/p/.env.example",
        "/p/.env.sample",
        "/p/.env.template",
        "/p/.env.dist",
        "/p/environment.rs",
        "/p/env",
        "/p/src/chrome/tabs.ts",
        "/p/chromium/BUILD.gn",
        "/p/config.json",
        "/p/docker/config.json",
        "/p/keys.rs",
        "/p/id_rsa.pub",
        "/p/README.md",
        "/p/ssh/config",
        "/",
        "/p/.github/workflows/ci.yml",
        "/p/secrets.rs",
        "/p/gh/main.go",
    ] {
        assert!(!is_secret(Path::new(path)), "{path} is not secret");
    }
}
