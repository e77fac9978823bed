-- The first schema. Steps are numbered, run in order, and never change once released.
--
-- Times are milliseconds since the Unix epoch, UTC. Ids are 32 hex digits. Columns named `*_json` hold
-- values of octo-protocol as serde writes them.
--
-- A session has a small number, `sessions.key`. Messages, blocks and events are numbered within it and
-- kept under one packed integer (see src/key.rs), so that what is read together lies together:
--   messages.key = session << 40 | position << 16
--   blocks.key   = messages.key | index
--   events.key   = topic << 32 | seq          (topic: the session's number, 0 the list, -1 settings)

PRAGMA application_id = 0x4f63746f; -- "Octo"

CREATE TABLE prompts (
  hash TEXT PRIMARY KEY,
  text TEXT NOT NULL
) STRICT;

CREATE TABLE toolsets (
  hash       TEXT PRIMARY KEY,
  version    INTEGER NOT NULL,
  tools_json TEXT NOT NULL
) STRICT;

-- Kept small, because the list walks it: long texts have tables of their own.
CREATE TABLE sessions (
  key               INTEGER PRIMARY KEY AUTOINCREMENT,
  id                TEXT NOT NULL UNIQUE,
  title             TEXT NOT NULL,
  folder            TEXT NOT NULL,
  profile           TEXT NOT NULL,
  mode              TEXT NOT NULL,
  model             TEXT,
  source            TEXT NOT NULL,
  pinned            INTEGER NOT NULL,
  status            TEXT NOT NULL,
  created_at        INTEGER NOT NULL,
  updated_at        INTEGER NOT NULL,
  usage_input       INTEGER NOT NULL,
  usage_cache_read  INTEGER NOT NULL,
  usage_cache_write INTEGER NOT NULL,
  usage_output      INTEGER NOT NULL,
  prompt            TEXT NOT NULL REFERENCES prompts (hash),
  toolset           TEXT NOT NULL REFERENCES toolsets (hash),
  deleted_at        INTEGER,
  todo_last_id      INTEGER NOT NULL DEFAULT 0,
  context_tokens    INTEGER NOT NULL DEFAULT 0,
  generation        INTEGER NOT NULL DEFAULT 1,
  retry_json        TEXT
) STRICT;

CREATE INDEX sessions_list ON sessions (deleted_at, pinned DESC, updated_at DESC, key DESC);
CREATE INDEX sessions_folder ON sessions (folder, deleted_at, updated_at DESC, key DESC);

CREATE VIRTUAL TABLE titles_fts USING fts5 (title, content = 'sessions', content_rowid = 'key', tokenize = 'trigram');

CREATE TRIGGER sessions_title_added AFTER INSERT ON sessions BEGIN
  INSERT INTO titles_fts (rowid, title) VALUES (new.key, new.title);
END;
CREATE TRIGGER sessions_title_changed AFTER UPDATE OF title ON sessions WHEN old.title IS NOT new.title BEGIN
  INSERT INTO titles_fts (titles_fts, rowid, title) VALUES ('delete', old.key, old.title);
  INSERT INTO titles_fts (rowid, title) VALUES (new.key, new.title);
END;

CREATE TABLE drafts (
  session INTEGER PRIMARY KEY REFERENCES sessions (key),
  text    TEXT NOT NULL
) STRICT;

CREATE TABLE turns (
  key               INTEGER PRIMARY KEY,
  id                TEXT NOT NULL UNIQUE,
  session           INTEGER NOT NULL REFERENCES sessions (key),
  parent            INTEGER REFERENCES turns (key),
  started_at        INTEGER NOT NULL,
  ended_at          INTEGER,
  end_json          TEXT,
  usage_input       INTEGER NOT NULL,
  usage_cache_read  INTEGER NOT NULL,
  usage_cache_write INTEGER NOT NULL,
  usage_output      INTEGER NOT NULL
) STRICT;

CREATE INDEX turns_session ON turns (session, key);
CREATE INDEX turns_unfinished ON turns (session) WHERE ended_at IS NULL;

-- `turn` is the turn's id and no reference: a note may be stored for a turn that never began.
CREATE TABLE messages (
  key        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  turn       TEXT NOT NULL,
  role       TEXT NOT NULL,
  origin     TEXT NOT NULL,
  at         INTEGER NOT NULL,
  model      TEXT,
  end        TEXT,
  usage_json TEXT,
  open       INTEGER NOT NULL -- 1 while the model's message has begun and not ended
) STRICT;

CREATE INDEX messages_turn ON messages (turn);

-- Words a person may search for stand in `text`; every other block is whole in `block_json`.
CREATE TABLE blocks (
  key        INTEGER PRIMARY KEY,
  text       TEXT,
  block_json TEXT,
  CHECK ((text IS NULL) <> (block_json IS NULL))
) STRICT;

-- Keeps no copy of the texts. Two private characters after each text let every one and two characters of
-- it begin some trigram, so that words shorter than three are found through the index's vocabulary.
CREATE VIRTUAL TABLE blocks_fts USING fts5 (text, content = '', tokenize = 'trigram');
CREATE VIRTUAL TABLE blocks_vocab USING fts5vocab (blocks_fts, instance);

CREATE TRIGGER blocks_text_added AFTER INSERT ON blocks WHEN new.text IS NOT NULL BEGIN
  INSERT INTO blocks_fts (rowid, text) VALUES (new.key, new.text || char(0xe000, 0xe000));
END;
CREATE TRIGGER blocks_text_removed AFTER DELETE ON blocks WHEN old.text IS NOT NULL BEGIN
  INSERT INTO blocks_fts (blocks_fts, rowid, text) VALUES ('delete', old.key, old.text || char(0xe000, 0xe000));
END;

-- What the model sees, apart from what is stored. Compaction begins a new generation.
CREATE TABLE context (
  session    INTEGER NOT NULL REFERENCES sessions (key),
  generation INTEGER NOT NULL,
  position   INTEGER NOT NULL,
  message    INTEGER NOT NULL REFERENCES messages (key),
  PRIMARY KEY (session, generation, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX context_message ON context (message);

CREATE TABLE calls (
  key         INTEGER PRIMARY KEY,
  id          TEXT NOT NULL UNIQUE,
  session     INTEGER NOT NULL REFERENCES sessions (key),
  turn        TEXT NOT NULL,
  tool        TEXT NOT NULL,
  state_json  TEXT NOT NULL,
  started_at  INTEGER,
  ended_at    INTEGER,
  view_json   TEXT,
  result_json TEXT
) STRICT;

CREATE INDEX calls_turn ON calls (turn, key);

-- Only what waits; the events keep the rest.
CREATE TABLE questions (
  key           INTEGER PRIMARY KEY,
  id            TEXT NOT NULL UNIQUE,
  session       INTEGER NOT NULL REFERENCES sessions (key),
  question_json TEXT NOT NULL
) STRICT;

CREATE INDEX questions_session ON questions (session, key);

CREATE TABLE queue (
  session     INTEGER NOT NULL REFERENCES sessions (key),
  position    INTEGER NOT NULL,
  queued_json TEXT NOT NULL,
  PRIMARY KEY (session, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE todos (
  session   INTEGER NOT NULL REFERENCES sessions (key),
  position  INTEGER NOT NULL,
  todo_json TEXT NOT NULL,
  PRIMARY KEY (session, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
  key        INTEGER PRIMARY KEY,
  at         INTEGER NOT NULL,
  v          INTEGER NOT NULL,
  event_json TEXT NOT NULL
) STRICT;

CREATE TABLE settings (
  only          INTEGER PRIMARY KEY CHECK (only = 1),
  settings_json TEXT NOT NULL
) STRICT;

-- Never a key: at most its last four characters, inside `entry_json`.
CREATE TABLE models (
  key        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  entry_json TEXT NOT NULL
) STRICT;

CREATE TABLE rules (
  key       INTEGER PRIMARY KEY,
  folder    TEXT NOT NULL,
  rule_json TEXT NOT NULL,
  UNIQUE (folder, rule_json)
) STRICT;

CREATE TABLE usage (
  key                 INTEGER PRIMARY KEY,
  session             INTEGER NOT NULL REFERENCES sessions (key),
  turn                TEXT NOT NULL,
  message             TEXT NOT NULL,
  model               TEXT,
  at                  INTEGER NOT NULL,
  input               INTEGER NOT NULL,
  cache_read          INTEGER NOT NULL,
  cache_write         INTEGER NOT NULL,
  output              INTEGER NOT NULL,
  expected_cache_read INTEGER
) STRICT;

CREATE INDEX usage_session ON usage (session, at);
CREATE INDEX usage_at ON usage (at);

CREATE TABLE leases (
  session INTEGER PRIMARY KEY REFERENCES sessions (key),
  process INTEGER NOT NULL,
  started INTEGER NOT NULL,
  boot    TEXT NOT NULL,
  token   TEXT NOT NULL
) STRICT;

CREATE INDEX leases_token ON leases (token);
