//! The fixed part of every request: the sixteen tools, the system prompt, and the skills it lists.

use super::rig::{Rig, words};
use octo_protocol::{Mode, Profile, StartSession, TurnEnd};
use octo_testkit::Script;
use serde_json::Value;

/// Its maximum size, in tokens of four bytes.
const MOST: usize = 4_500;

/// As it was sent, without the markers of the cache.
fn unmarked(mut tools: Value) -> Value {
    if let Value::Array(tools) = &mut tools {
        for tool in tools {
            tool.as_object_mut().unwrap().remove("cache_control");
        }
    }
    tools
}

#[tokio::test]
async fn the_whole_of_it_is_at_most_4500_tokens_in_both_profiles() {
    let mut systems = Vec::new();
    for profile in [Profile::GENERAL, Profile::CODING] {
        let mut rig = Rig::new(Script::new().text("hello")).await;
        let start = StartSession {
            folder: rig.home.work().display().to_string(),
            profile: profile.clone(),
            mode: Mode::Ask,
            model: None,
            effort: None,
            title: None,
            blocks: words("hello"),
        };
        rig.octo.call(start).await.unwrap();
        assert_eq!(rig.turn_end().await, TurnEnd::Finished);
        let request = &rig.server.requests()[0];
        let names = request.tools();
        assert_eq!(names.len(), 16, "{names:?}");
        assert!(names.contains(&"invoke_skill".to_owned()), "{names:?}");

        // SOUL in Octo's own words, and all bundled skills a model may start in this profile.
        let system = request.system();
        assert!(system.contains("# Who you are\n\nBe calm, precise and honest."), "{system}");
        let listed: Vec<&str> = system
            .lines()
            .skip_while(|line| *line != "# Skills")
            .filter_map(|line| line.strip_prefix("- ")?.split_once(": ").map(|(name, _)| name))
            .collect();
        let expected = [
            "browser-setup",
            "code-explorer",
            "cron-task-creator",
            "persist-memory",
            "personal-website",
            "product-help",
            "read-excel",
            "read-pdf",
            "read-powerpoint",
            "read-scanned-pdf",
            "read-word",
            "recall-memory",
            "skill-add",
            "skill-creator",
        ];
        assert_eq!(listed, expected, "{system}");

        let tools = unmarked(request.body["tools"].clone()).to_string().len();
        let tokens = (tools + system.len()).div_ceil(4);
        println!(
            "{profile}: {tokens} tokens ({tools} bytes of tools, {} of the system prompt)",
            system.len()
        );
        assert!(
            tokens <= MOST,
            "{profile}: {tokens} tokens: {tools} bytes of tools, {} of system",
            system.len()
        );
        systems.push(system);
        rig.assert_sound();
    }
    assert_ne!(systems[0], systems[1]);
    let listing = systems[1].split_once("# Skills").unwrap().1;
    println!("# Skills{listing}");
}
