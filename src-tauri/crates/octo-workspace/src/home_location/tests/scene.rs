//! A folder with homes in it, and checks of them.

use super::*;

pub const AT: Millis = 1_790_000_000_000;
pub const STAMP: &str = "2026-11-22-150405";

/// A folder with a home, a copy of another home, and space for more.
pub struct Scene {
    _folder: tempfile::TempDir,
    pub base: PathBuf,
}

impl Scene {
    pub fn new() -> Self {
        let folder = octo_testkit::test_folder();
        let base = folder.path().canonicalize().unwrap();
        let scene = Self { _folder: folder, base };
        home(&scene.home(), "old");
        scene
    }

    /// Creates the folder with the copy of another home next to the home.
    pub fn with_copy() -> Self {
        let scene = Self::new();
        let other = scene.base.join("other");
        home(&other, "new");
        let copy = scene.copy();
        fs::create_dir(&copy).unwrap();
        let (store, target) = (Store::open(&other).unwrap(), copy.join("octo.db"));
        store.read_blocking(move |reader| reader.copy_to(&target)).unwrap();
        store.close();
        copy_home(&other, &copy).unwrap();
        fs::write(copy.join("README.txt"), "how").unwrap();
        write_copy_manifest(&copy, "0.9.0", AT).unwrap();
        scene
    }

    pub fn home(&self) -> PathBuf {
        self.base.join(".octo")
    }

    pub fn copy(&self) -> PathBuf {
        self.base.join("copy")
    }

    pub fn to(&self) -> PathBuf {
        let to = self.base.join("to");
        fs::create_dir_all(&to).unwrap();
        to
    }

    pub fn location(&self) -> HomeLocation {
        HomeLocation::by_octo(self.home()).unwrap()
    }

    /// Returns the names next to the home, except the other folders of the scene.
    pub fn siblings(&self) -> Vec<String> {
        let mut names = names(&self.base);
        names.retain(|name| name.starts_with(".octo") && name != ".octo");
        names
    }
}

/// Creates a home whose every part names that home.
fn home(at: &Path, content: &str) {
    let store = Store::open(at).unwrap();
    let draft = Draft { text: content.to_owned(), attachments: Vec::new(), foreign: false };
    store.write_blocking(move |tx| tx.set_new_draft(&draft)).unwrap();
    store.close();
    for file in ["memories/nest.md", "skills/notes/SKILL.md", "diary.md"] {
        let path = at.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{content} {file}")).unwrap();
    }
}

/// Returns which home a folder completely is, or the evidence against it.
pub fn which(path: &Path) -> Result<String, String> {
    let store = Store::open(path).map_err(|error| error.to_string())?;
    let draft = store.read_blocking(|reader| reader.new_draft()).map_err(|error| error.to_string())?;
    store.close();
    for file in ["memories/nest.md", "skills/notes/SKILL.md", "diary.md"] {
        let text = fs::read_to_string(path.join(file)).map_err(|error| format!("{file}: {error}"))?;
        if text != format!("{} {file}", draft.text) {
            return Err(format!("{file} says {text}, the database {}", draft.text));
        }
    }
    Ok(draft.text)
}

pub fn names(folder: &Path) -> Vec<String> {
    tree::entries(folder).unwrap().into_iter().map(|name| name.into_string().unwrap()).collect()
}

/// Runs `work`, which ends at the `n`th change of the disk as if killed. Returns whether it finished before.
pub fn killed_at(n: usize, work: impl FnOnce(ChangeHook<'_>)) -> bool {
    let mut remaining = n;
    let mut kill = || {
        assert!(remaining > 0, "the process ends here");
        remaining -= 1;
    };
    catch_unwind(AssertUnwindSafe(|| work(&mut kill))).is_ok()
}

use tree::ChangeHook;
