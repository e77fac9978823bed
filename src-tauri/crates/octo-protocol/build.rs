//! Embeds the files of `words/`, each a part of the catalogue, so that no list of them is kept here.

use std::{
    env, fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

fn main() -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../words");
    writeln!(io::stdout(), "cargo::rerun-if-changed={}", folder.display())?;
    let mut code = String::new();
    for (name, language) in [("EN", "en"), ("ZH", "zh")] {
        let mut files = fs::read_dir(folder.join(language))?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<io::Result<Vec<PathBuf>>>()?;
        files.retain(|file| file.extension().is_some_and(|end| end == "json"));
        files.sort();
        let parts: Vec<String> =
            files.iter().map(|file| format!("include_str!({:?})", file.display().to_string())).collect();
        code.push_str(&format!("const {name}: &[&str] = &[{}];\n", parts.join(", ")));
    }
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("Cargo sets OUT_DIR"))?;
    fs::write(Path::new(&out).join("words.rs"), code)
}
