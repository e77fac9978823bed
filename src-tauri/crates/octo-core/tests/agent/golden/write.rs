//! What wrote the files of the golden home. Ignored: it is run by hand, and never over files that were released.

use super::{FILES, NOW, copy, fixture, golden_home};
use crate::agent::{library::put, rig::config, schedule::world::HandClock};
use octo_core::{Config, Octo, OpenTurnPolicy};
use octo_protocol::*;
use serde_json::{Value, json};
use std::fs;

const HOOKS: &str = "# Mine.
[[hook]]
on = \"session_start\"
command = \"true\"

[[hook]]
on = \"before_tool\"
tools = [\"terminal\", \"write\"]
command = \"true\"
seconds = 5

[[hook]]
on = \"after_tool\"
command = \"true\"

[[hook]]
on = \"error\"
command = \"true\"

[[hook]]
on = \"finish\"
command = \"true\"
";

const SKILL: &str = "---
name: notes
description: Takes notes of herons.
argument-hint: WHERE
context: fork
---

Note where the heron stands: $ARGUMENTS
";

const PROFILE: &str = "Watches birds.\n\nSay little.\n";

/// Every rule of the golden `policy.toml`, as the window adds it.
pub async fn policy(octo: &Octo) {
    for (list, text) in [
        (PolicyList::Allow, "just lint"),
        (PolicyList::Ask, "git commit"),
        (PolicyList::Deny, "docker"),
        (PolicyList::Secret, "~/vault"),
        (PolicyList::DenyPath, "~/private"),
    ] {
        let stamp = octo.call(GetPolicy {}).await.unwrap().stamp;
        octo.call(AddPolicyRule { rule: PolicyRule { list, text: text.into() }, stamp }).await.unwrap();
    }
}

/// A task for each way of saying when, and for each word of the rest.
fn plans() -> Vec<TaskPlan> {
    let whens = [
        json!({ "type": "by_hand" }),
        json!({ "type": "once", "at": "2030-01-02T03:04" }),
        json!({ "type": "every", "count": 2, "unit": "hours", "from": "09:00", "until": "17:00" }),
        json!({ "type": "weekly", "days": ["monday", "friday"], "times": ["08:00", "20:30"] }),
        json!({ "type": "monthly", "days": [1, 15], "times": ["07:00"] }),
        json!({ "type": "cron", "expression": "5 4 * * 0" }),
    ];
    let pick = |all: &[&str], at: usize| all[at % all.len()].to_owned();
    let plan = |(at, when): (usize, Value)| {
        let plan = json!({
            "name": format!("Herons {at}"),
            "prompt": "Look for herons.\n\n- at the pond\n- \"by\" the river: 苍鹭",
            "when": when,
            "zone": "Europe/Paris",
            "folder": "/tmp",
            "profile": pick(&["general", "coding"], at),
            "mode": pick(&["ask", "ask_risky", "autonomous"], at),
            "model": null,
            "budget": (at % 2 == 1).then_some(1_500_000_000_u64),
            "minutes": 30 + at,
            "retry": { "times": at % 3, "minutes": 5 },
            "missed": pick(&["skip", "run_once", "ask"], at),
            "tell": pick(&["all", "trouble", "nothing"], at),
        });
        serde_json::from_value(plan).unwrap()
    };
    whens.into_iter().enumerate().map(plan).collect()
}

#[tokio::test]
#[ignore = "writes the files of the golden home; they are never written over"]
async fn the_golden_files() {
    let home = golden_home();
    let octo_home = home.octo();
    FILES.iter().for_each(|name| drop(fs::remove_dir_all(octo_home.join(name))));
    put(octo_home.join("hooks.toml"), HOOKS);
    put(octo_home.join("skills/notes/SKILL.md"), SKILL);
    put(octo_home.join("agents/birds/PROFILE.md"), PROFILE);
    let presets = json!({
        "version": 1,
        "providers": [{
            "id": "heron",
            "name": "Heron models",
            "addresses": [{ "url": "https://heron.example/v1" }],
            "protocol": "openai-chat",
            "caching": { "kind": "none", "minimum": 0 },
            "models": ["heron-large"],
            "rows": [{
                "name": "heron-large",
                "prices": {
                    "rates": { "input": 3, "output": 15, "read": 0.3, "write": 3.75, "write_hour": 6 },
                    "date": "2026-11-22",
                    "source": "a test",
                },
            }],
        }],
    });
    put(octo_home.join("presets.json"), serde_json::to_string_pretty(&presets).unwrap());
    let config = Config { open_turns: OpenTurnPolicy::WaitForUse, ..config(&home) };
    let octo = Octo::start_by_clock(config, HandClock::at(NOW)).await.unwrap();
    policy(&octo).await;
    for plan in plans() {
        octo.call(SaveTask { task: None, plan: Box::new(plan), version: None }).await.unwrap();
    }
    let copied = octo.call(DuplicateTask { task: "herons-0".into() }).await.unwrap();
    octo.call(DeleteTask { task: copied.file }).await.unwrap();
    for (topic, body) in
        [("Herons", "In the reeds.\n\n- grey\n- white"), ("发票", "每月二十五日前交。"), ("Gone", "South.")]
    {
        let save = SaveMemory {
            file: None,
            topic: topic.into(),
            description: format!("About \"{topic}\": all"),
            body: body.into(),
            version: None,
        };
        let sheet = octo.call(save).await.unwrap();
        if topic == "Gone" {
            octo.call(DeleteMemory { file: sheet.card.file }).await.unwrap();
        }
    }
    for (kind, text) in [(PersonaKind::Soul, "Be calm.\n"), (PersonaKind::User, "Juno, a gardener.\n")] {
        octo.call(SavePersona { kind, text: text.into() }).await.unwrap();
    }
    octo.shutdown().await;
    for name in FILES {
        copy(&octo_home.join(name), &fixture().join(name));
    }
    // Of a place that every reader of the fixture has.
    for entry in fs::read_dir(fixture().join("trash")).unwrap().flatten() {
        let slip = entry.path().join("slip.json");
        if let Ok(text) = fs::read_to_string(&slip) {
            fs::write(slip, text.replace(octo_home.to_str().unwrap(), "/home/me/.octo")).unwrap();
        }
    }
}
