use super::*;
use crate::{BrowserFamily, ReleaseChannel};

fn environment(system: HostSystem) -> BrowserEnvironment {
    BrowserEnvironment::bare(system, "/home/ada")
}

fn folders_of(
    environment: &BrowserEnvironment,
    family: BrowserFamily,
    channel: ReleaseChannel,
) -> Vec<String> {
    let installed = candidates(environment, None).into_iter();
    let matching = installed.filter(|it| (it.product.family, it.product.channel) == (family, channel));
    matching.map(|it| it.folder.to_string_lossy().replace('\\', "/")).collect()
}

#[test]
fn every_system_has_its_own_data_folders() {
    use BrowserFamily::{Brave, Chrome, Chromium, Edge};
    use ReleaseChannel::{Beta, Canary, Dev, Stable};
    let (linux, mac, windows) =
        (environment(HostSystem::Linux), environment(HostSystem::Mac), environment(HostSystem::Windows));
    for (environment, family, channel, expected) in [
        (
            &linux,
            Chrome,
            Stable,
            vec![
                "/home/ada/.config/google-chrome",
                "/home/ada/.var/app/com.google.Chrome/config/google-chrome",
            ],
        ),
        (
            &linux,
            Chrome,
            Dev,
            vec![
                "/home/ada/.config/google-chrome-unstable",
                "/home/ada/.var/app/com.google.ChromeDev/config/google-chrome-unstable",
            ],
        ),
        (&linux, Edge, Beta, vec!["/home/ada/.config/microsoft-edge-beta"]),
        (&linux, Edge, Canary, vec![]),
        (
            &linux,
            Chromium,
            Stable,
            vec![
                "/home/ada/.config/chromium",
                "/home/ada/.var/app/org.chromium.Chromium/config/chromium",
                "/home/ada/snap/chromium/common/chromium",
            ],
        ),
        (&mac, Chrome, Canary, vec!["/home/ada/Library/Application Support/Google/Chrome Canary"]),
        (&mac, Edge, Stable, vec!["/home/ada/Library/Application Support/Microsoft Edge"]),
        (&mac, Brave, Stable, vec!["/home/ada/Library/Application Support/BraveSoftware/Brave-Browser"]),
        (&windows, Chrome, Canary, vec!["/home/ada/AppData/Local/Google/Chrome SxS/User Data"]),
        (&windows, Edge, Dev, vec!["/home/ada/AppData/Local/Microsoft/Edge Dev/User Data"]),
    ] {
        assert_eq!(folders_of(environment, family, channel), expected, "{family:?} {channel:?}");
    }
}

#[test]
fn environment_variables_override_the_base_folders() {
    let mut linux = environment(HostSystem::Linux);
    linux.xdg_config_home = Some("/xdg".into());
    assert_eq!(folders_of(&linux, BrowserFamily::Edge, ReleaseChannel::Beta), ["/xdg/microsoft-edge-beta"]);
    linux.chrome_config_home = Some("/own".into());
    assert_eq!(folders_of(&linux, BrowserFamily::Edge, ReleaseChannel::Beta), ["/own/microsoft-edge-beta"]);
    linux.windows_local_app_data = vec!["/mnt/c/Users/Ada/AppData/Local".into()];
    assert_eq!(
        folders_of(&linux, BrowserFamily::Edge, ReleaseChannel::Beta),
        ["/own/microsoft-edge-beta", "/mnt/c/Users/Ada/AppData/Local/Microsoft/Edge Beta/User Data"]
    );
    let mut windows = environment(HostSystem::Windows);
    windows.local_app_data = Some("/local".into());
    assert_eq!(
        folders_of(&windows, BrowserFamily::Chrome, ReleaseChannel::Stable),
        ["/local/Google/Chrome/User Data"]
    );
}

#[test]
fn a_configured_folder_is_the_only_candidate_and_determines_the_browser() {
    let linux = environment(HostSystem::Linux);
    for (folder, name) in [
        ("/home/ada/.config/google-chrome-beta", "Google Chrome Beta"),
        ("/elsewhere/microsoft-edge", "Microsoft Edge"),
        ("/backup/google-chrome-beta/", "Google Chrome Beta"),
        ("/work/profile", "Google Chrome"),
    ] {
        let found = candidates(&linux, Some(Path::new(folder)));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].product.name(), found[0].folder.as_path()), (name, Path::new(folder)));
    }
}

#[test]
fn only_a_well_formed_port_file_parses() {
    let read = |text: &str| PortFile::parse(text).map(|file| (file.port, file.path));
    let path = "/devtools/browser/0886be61-cbf5-44e8-b3af-4f7a04158c30";
    assert_eq!(read(&format!("9222\n{path}")), Some((9222, path.to_owned())));
    assert_eq!(read(&format!("37751\r\n{path}\r\n")), Some((37751, path.to_owned())));
    for malformed in [
        "",
        "9222",
        "9222\n",
        "0\n/devtools/browser/a",
        "70000\n/devtools/browser/a",
        "9222\n/devtools/page/a",
        "9222\n/devtools/browser/",
        "9222\n/devtools/browser/a@evil.example/",
        "9222\n@evil.example/devtools/browser/a",
        "x\n/devtools/browser/a",
    ] {
        assert_eq!(read(malformed), None, "{malformed:?}");
    }
}

#[test]
fn installed_programs_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut linux = environment(HostSystem::Linux);
    linux.path = vec!["/nowhere".into(), folder.path().to_owned()];
    assert_eq!(executables(&linux), []);
    for name in ["chromium", "google-chrome", "google-chrome-stable"] {
        fs::write(folder.path().join(name), "").expect("written");
    }
    let found: Vec<(&str, PathBuf)> =
        executables(&linux).into_iter().map(|(product, path)| (product.name(), path)).collect();
    assert_eq!(
        found,
        [
            ("Google Chrome", folder.path().join("google-chrome-stable")),
            ("Chromium", folder.path().join("chromium")),
        ]
    );
}
