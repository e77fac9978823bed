use super::*;

#[test]
fn variables_name_start_up_files_too() {
    let home = Path::new("/home/ada");
    let variables = Variables::from(
        [("ZDOTDIR", "/home/ada/zsh"), ("BASH_ENV", "$HOME/.bash_env"), ("ENV", "~/.shinit")]
            .map(|(name, value)| (name.to_owned(), value.to_owned())),
    );
    let files = variable_files(&variables, Some(home));
    for file in [".profile", ".zshrc", "zsh/.zshrc", "zsh/.zshenv", ".bash_env", ".shinit"] {
        assert!(files.contains(&home.join(file)), "{file}");
    }
    assert!(files.contains(&PathBuf::from("/etc/profile")));
    let relative = Variables::from([("ENV".to_owned(), "x".to_owned())]);
    assert!(variable_files(&relative, None).iter().all(|file| file.starts_with("/etc")));
}
