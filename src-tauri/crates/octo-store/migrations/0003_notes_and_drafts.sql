-- Octo's answers to slash commands are read back with the session; drafts keep what was attached, and one
-- is kept for the session that is not started yet.

CREATE TABLE notes (
  key       INTEGER PRIMARY KEY, -- of the event
  at        INTEGER NOT NULL,
  note_json TEXT NOT NULL
) STRICT;

INSERT INTO notes (key, at, note_json)
  SELECT key, at, json_extract(event_json, '$.note') FROM events
  WHERE json_extract(event_json, '$.type') = 'command_answered';

-- The whole draft as JSON; what is deleted with its session goes and comes back with it.
CREATE TABLE drafts_whole (
  session    INTEGER PRIMARY KEY REFERENCES sessions (key),
  draft_json TEXT NOT NULL
) STRICT;
INSERT INTO drafts_whole (session, draft_json)
  SELECT session, json_object('text', text, 'attachments', json_array()) FROM drafts;
DROP TABLE drafts;
ALTER TABLE drafts_whole RENAME TO drafts;

CREATE TABLE new_draft (
  only       INTEGER PRIMARY KEY CHECK (only = 1),
  draft_json TEXT NOT NULL
) STRICT;
