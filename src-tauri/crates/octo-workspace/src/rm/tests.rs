use super::*;

#[test]
fn links_point_at_the_program_and_are_repaired() {
    let folder = octo_testkit::test_folder();
    let program = folder.path().join("octo");
    fs::write(&program, "").unwrap();
    let bin = install(folder.path(), &program).unwrap();
    for name in ["rm", "unlink"] {
        assert_eq!(fs::read_link(bin.join(name)).unwrap(), program);
    }
    fs::remove_file(bin.join("rm")).unwrap();
    fs::write(bin.join("rm"), "#!/bin/sh\n").unwrap();
    install(folder.path(), &program).unwrap();
    assert_eq!(fs::read_link(bin.join("rm")).unwrap(), program);
    assert_eq!(fs::read_dir(&bin).unwrap().count(), 2);
    assert_eq!(RmProgram::named(OsStr::new("/a/b/rm")), Some(RmProgram::Rm));
    assert_eq!(RmProgram::named(OsStr::new("octo")), None);
}
