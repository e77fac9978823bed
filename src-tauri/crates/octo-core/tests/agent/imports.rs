//! Skills of other agents: only selected ones are imported, as they were shown, and nothing is lost.

use super::rig::open;
use octo_core::Octo;
use octo_protocol::{
    FindOtherSkills, ImportSkills, ListSkills, NameConflictAction, OtherAgent, OtherSkills,
    SkillImportChoice, SkillImportResult, SkillOrigin,
};
use octo_testkit::TempHome;
use std::{collections::BTreeMap, fs, path::Path};

fn skill(folder: &Path, body: &str) {
    fs::create_dir_all(folder).expect("a folder");
    let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
    fs::write(
        folder.join("SKILL.md"),
        format!("---\nname: {name}\ndescription: Does {name}.\n---\n\n{body}\n"),
    )
    .expect("a skill");
}

async fn found(octo: &Octo, home: &TempHome) -> OtherSkills {
    let folder = Some(home.work().join("theirs").display().to_string());
    let folders = octo.call(FindOtherSkills { folder }).await.expect("they are looked for").folders;
    folders.into_iter().find(|folder| folder.agent == OtherAgent::Picked).expect("the picked folder")
}

async fn import(
    octo: &Octo,
    found_skills: &OtherSkills,
    choices: &[(&str, NameConflictAction)],
) -> SkillImportResult {
    let choices = choices
        .iter()
        .map(|(name, taken)| SkillImportChoice {
            offer: found_skills.offer,
            name: (*name).to_owned(),
            taken: *taken,
        })
        .collect();
    octo.call(ImportSkills { choices }).await.expect("an answer")
}

async fn own(octo: &Octo) -> BTreeMap<String, String> {
    let skills = octo.call(ListSkills { folder: None }).await.expect("the skills").skills;
    let own = skills.into_iter().filter(|card| card.skill.origin == SkillOrigin::User);
    own.map(|card| {
        let text = fs::read_to_string(Path::new(&card.folder).join("SKILL.md")).expect("its text");
        (card.skill.name, text.lines().last().unwrap_or_default().to_owned())
    })
    .collect()
}

#[tokio::test]
async fn what_is_ticked_is_imported_as_it_was_shown_and_nothing_else() {
    let home = TempHome::new();
    for name in ["one", "two", "taken", "both"] {
        skill(&home.work().join("theirs").join(name), "Theirs.");
    }
    skill(&home.octo().join("skills/taken"), "Mine.");
    skill(&home.octo().join("skills/both"), "Mine.");
    let octo = open(&home).await;
    let found_skills = found(&octo, &home).await;
    let present: Vec<(&str, bool)> =
        found_skills.skills.iter().map(|skill| (skill.name.as_str(), skill.present.is_some())).collect();
    assert_eq!(present, [("both", true), ("one", false), ("taken", true), ("two", false)]);
    assert_eq!(own(&octo).await.len(), 2, "looking installs nothing");

    // Later changes there have no effect.
    skill(&home.work().join("theirs/one"), "Changed meanwhile.");
    let wanted = [
        ("one", NameConflictAction::Keep),
        ("taken", NameConflictAction::Keep),
        ("both", NameConflictAction::Rename),
        ("nothing", NameConflictAction::Keep),
    ];
    let done = import(&octo, &found_skills, &wanted).await;
    assert_eq!(done.names, ["one", "both-2"]);
    let refusals: Vec<(&str, &str)> =
        done.refused.iter().map(|refusal| (refusal.name.as_str(), refusal.error.key.as_str())).collect();
    assert_eq!(refusals, [("taken", "skill.install.exists"), ("nothing", "skills.offer_gone")]);
    let mine = |name: &str| (name.to_owned(), "Mine.".to_owned());
    let theirs = |name: &str| (name.to_owned(), "Theirs.".to_owned());
    assert_eq!(own(&octo).await, [mine("both"), theirs("both-2"), theirs("one"), mine("taken")].into());

    let done = import(&octo, &found_skills, &[("taken", NameConflictAction::Replace)]).await;
    assert_eq!(done.names, ["taken"]);
    assert_eq!(own(&octo).await["taken"], "Theirs.");
    let trash =
        octo_protocol::ListTrash { query: String::new(), kind: None, project: None, offset: 0, limit: 10 };
    let kept = octo.call(trash).await.expect("the trash").entries;
    assert_eq!(kept.len(), 1, "the one that was replaced is in the trash: {kept:?}");
}
