//! The files a package of Octo must contain for a desktop to recognize it.

use std::collections::BTreeSet;

/// The program.
pub(super) const PROGRAM: &str = "usr/bin/octo";
/// The desktop entry, which makes it an application.
pub(super) const DESKTOP: &str = "usr/share/applications/Octo.desktop";
/// The MIME definition, which gives skill files their type.
pub(super) const MIME: &str = "usr/share/mime/packages/octo-skill.xml";
/// The metadata software centres show.
pub(super) const METAINFO: &str = "usr/share/metainfo/io.github.octo-agent.octo.metainfo.xml";

/// The icon sizes desktops ask for.
const ICON_SIZES: [&str; 3] = ["32x32", "128x128", "512x512"];
/// Location of the licence: Debian's, or Fedora's.
const LICENCE_PATHS: [&str; 2] = ["usr/share/doc/octo/copyright", "usr/share/licenses/octo/LICENSE"];

/// The lines the desktop entry must have, each with its purpose.
const ENTRY: [(&str, &str); 4] = [
    ("Type=Application", "to be an application"),
    ("Exec=octo %U", "to be given links and files"),
    ("Icon=octo", "to have its icon"),
    ("StartupWMClass=octo", "to have its window recognised"),
];
/// The MIME types it opens.
const MIME_TYPES: [&str; 2] = ["x-scheme-handler/octo", "application/vnd.octo.skill+zip"];

/// Returns the faults of an installed package; empty if it has none.
pub(super) fn faults(files: &BTreeSet<String>, desktop: &str, mime: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let icons = ICON_SIZES.map(|size| format!("usr/share/icons/hicolor/{size}/apps/octo.png"));
    let needed = [PROGRAM, DESKTOP, MIME, METAINFO].map(str::to_owned);
    for file in needed.iter().chain(&icons).filter(|file| !files.contains(*file)) {
        faults.push(format!("{file} is missing"));
    }
    if !LICENCE_PATHS.iter().any(|file| files.contains(*file)) {
        faults.push("its licence is missing".to_owned());
    }
    // Anywhere else it could collide with the person's own files.
    for file in files.iter().filter(|file| !file.starts_with("usr/") || file.starts_with("usr/local/")) {
        faults.push(format!("{file} is not where packages install"));
    }
    let lines: BTreeSet<&str> = desktop.lines().map(str::trim).collect();
    for (line, purpose) in ENTRY.iter().filter(|(line, _)| !lines.contains(line)) {
        faults.push(format!("the desktop's entry needs {line:?} {purpose}"));
    }
    let opened = lines.iter().find_map(|line| line.strip_prefix("MimeType=")).unwrap_or_default();
    for kind in MIME_TYPES.iter().filter(|kind| !opened.split(';').any(|opened| opened == **kind)) {
        faults.push(format!("the desktop's entry does not say that Octo opens {kind}"));
    }
    if !mime.contains("pattern=\"*.skill\"") {
        faults.push("the kind of .skill files is not described".to_owned());
    }
    faults
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A desktop entry as Tauri generates it from the template.
    pub(in super::super) const DESKTOP_FILE: &str = "[Desktop Entry]\nType=Application\nName=Octo\nExec=octo %U\nIcon=octo\n\
        StartupWMClass=octo\nStartupNotify=true\nTerminal=false\nCategories=Development;\n\
        MimeType=application/vnd.octo.skill+zip;x-scheme-handler/octo;\n";

    fn complete_package() -> BTreeSet<String> {
        let icons = ICON_SIZES.map(|size| format!("usr/share/icons/hicolor/{size}/apps/octo.png"));
        [PROGRAM, DESKTOP, MIME, METAINFO, LICENCE_PATHS[1]]
            .map(str::to_owned)
            .into_iter()
            .chain(icons)
            .collect()
    }

    #[test]
    fn a_whole_package_has_no_fault_and_each_missing_file_is_one() {
        let mime = include_str!("../../../../packaging/octo-skill.xml");
        assert!(faults(&complete_package(), DESKTOP_FILE, mime).is_empty());
        for file in complete_package() {
            let mut files = complete_package();
            files.remove(&file);
            assert_eq!(faults(&files, DESKTOP_FILE, mime).len(), 1, "{file}");
        }
        for stray in ["opt/octo/octo", "etc/octo.conf", "usr/local/bin/octo"] {
            let mut files = complete_package();
            files.insert(stray.to_owned());
            assert_eq!(
                faults(&files, DESKTOP_FILE, mime),
                [format!("{stray} is not where packages install")]
            );
        }
        assert_eq!(faults(&complete_package(), DESKTOP_FILE, "").len(), 1);
    }

    #[test]
    fn an_entry_that_opens_neither_links_nor_skills_is_a_fault() {
        let mime = "pattern=\"*.skill\"";
        for (original, replacement, count) in [
            ("x-scheme-handler/octo;", "", 1),
            ("MimeType=", "X-MimeType=", 2),
            ("Exec=octo %U", "Exec=octo", 1),
            ("Icon=octo", "Icon=other", 1),
        ] {
            let entry = DESKTOP_FILE.replace(original, replacement);
            assert_eq!(faults(&complete_package(), &entry, mime).len(), count, "{original}");
        }
    }
}
