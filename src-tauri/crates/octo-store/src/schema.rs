//! The one ordered list of schema steps.

use rusqlite_migration::{M, Migrations};

/// All steps, oldest first. A released step never changes; every schema change is a new step.
pub(crate) const STEPS: &[M<'static>] = &[
    M::up(include_str!("../migrations/0001_start.sql")),
    M::up(include_str!("../migrations/0002_stop.sql")),
    M::up(include_str!("../migrations/0003_notes_and_drafts.sql")),
    M::up(include_str!("../migrations/0004_ledger.sql")),
    M::up(include_str!("../migrations/0005_pauses.sql")),
    M::up(include_str!("../migrations/0006_time_machine.sql")),
    SPENDING,
    M::up(include_str!("../migrations/0008_commands.sql")),
    M::up(include_str!("../migrations/0009_trash.sql")),
    M::up(include_str!("../migrations/0010_journeys.sql")),
    M::up(include_str!("../migrations/0011_lasting.sql")),
    M::up(include_str!("../migrations/0012_forks.sql")),
    M::up(include_str!("../migrations/0013_library.sql")),
    M::up(include_str!("../migrations/0014_tasks.sql")),
    M::up(include_str!("../migrations/0015_sessions.sql")),
    M::up(include_str!("../migrations/0016_neighbours.sql")),
    M::up(include_str!("../migrations/0017_chats.sql")),
];

const SPENDING: M<'static> = M::up(include_str!("../migrations/0007_spending.sql"));

/// Marks the file as ours in its header: "Octo".
pub(crate) const APPLICATION_ID: i32 = 0x4f63_746f;

pub(crate) fn migrations(steps: &'static [M<'static>]) -> Migrations<'static> {
    Migrations::from_slice(steps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    #[test]
    fn older_misses_are_counted_without_a_price() {
        let mut file = Connection::open_in_memory().unwrap();
        let before = STEPS.iter().position(|step| *step == SPENDING).unwrap();
        migrations(STEPS).to_version(&mut file, before).unwrap();
        let call_line = |miss_json: &str, expected: &str, reported: i64| {
            format!(
                "INSERT INTO ledger (session, purpose, name, at, reported, input, cache_read, cache_write, output,
                   written_for_an_hour, cost, total_ms, outcome, expected_read, miss_json)
                 VALUES (1, 'turn', 'm', 5, {reported}, 10, 100, 30, 0, 0, 7, 1, 'answered', {expected}, {miss_json});"
            )
        };
        let miss_json = r#"'{"class":"expired"}'"#;
        let lines = [
            call_line(miss_json, "120", 1),
            call_line(miss_json, "900", 1),
            call_line(miss_json, "50", 1),
            call_line("NULL", "900", 1),
            call_line(miss_json, "900", 0),
        ];
        file.execute_batch(&format!(
            r#"
            INSERT INTO prompts (hash, text) VALUES ('p', '');
            INSERT INTO toolsets (hash, version, tools_json) VALUES ('t', 1, '[]');
            INSERT INTO sessions (key, id, title, folder, profile, mode, source, pinned, status, created_at,
              updated_at, usage_input, usage_cache_read, usage_cache_write, usage_output, prompt, toolset)
              VALUES (1, 'a', '', '/', 'general', 'ask', 'window', 0, 'idle', 0, 0, 0, 0, 0, 0, 'p', 't');
            INSERT INTO events (key, at, v, event_json) VALUES
              (4294967297, 5, 1, '{{"type":"compaction_failed","error":{{"key":"compaction.cut","retryable":false}}}}');
            {}"#,
            lines.concat()
        ))
        .unwrap();
        migrations(STEPS).to_latest(&mut file).unwrap();
        let mut read = file.prepare("SELECT again, again_cost FROM ledger ORDER BY key").unwrap();
        let found: Vec<(i64, Option<i64>)> = read
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        assert_eq!(found, [(20, None), (40, None), (0, Some(0)), (0, Some(0)), (0, Some(0))]);
        let notice: (String, String) = file
            .query_row("SELECT kind, note_json FROM notes", [], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap();
        assert_eq!(notice.0, "not_compacted");
        let error: octo_protocol::ApiError = serde_json::from_str(&notice.1).unwrap();
        assert_eq!(error.key, "compaction.cut");
    }

    #[test]
    fn answers_and_drafts_of_the_previous_schema_are_migrated() {
        let mut file = Connection::open_in_memory().unwrap();
        migrations(STEPS).to_version(&mut file, 2).unwrap();
        file.execute_batch(
            r#"
            INSERT INTO prompts (hash, text) VALUES ('p', '');
            INSERT INTO toolsets (hash, version, tools_json) VALUES ('t', 1, '[]');
            INSERT INTO sessions (key, id, title, folder, profile, mode, source, pinned, status, created_at,
              updated_at, usage_input, usage_cache_read, usage_cache_write, usage_output, prompt, toolset)
              VALUES (1, 'a', '', '/', 'general', 'ask', 'window', 0, 'idle', 0, 0, 0, 0, 0, 0, 'p', 't');
            INSERT INTO drafts (session, text) VALUES (1, 'half "a" thought');
            INSERT INTO events (key, at, v, event_json) VALUES
              (4294967297, 5, 1, '{"type":"retry_started"}'),
              (4294967298, 6, 1, '{"type":"command_answered","note":{"key":"command.help","args":{"a":"b"}}}');
            "#,
        )
        .unwrap();
        migrations(STEPS).to_latest(&mut file).unwrap();
        let notice: (i64, i64, String) = file
            .query_row("SELECT key, at, note_json FROM notes", [], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .unwrap();
        assert_eq!(notice, (4_294_967_298, 6, r#"{"key":"command.help","args":{"a":"b"}}"#.to_owned()));
        let draft: String = file.query_row("SELECT draft_json FROM drafts", [], |row| row.get(0)).unwrap();
        assert_eq!(
            serde_json::from_str::<octo_protocol::Draft>(&draft).unwrap(),
            octo_protocol::Draft {
                text: "half \"a\" thought".to_owned(),
                attachments: Vec::new(),
                foreign: false
            }
        );
    }
}
