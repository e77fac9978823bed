-- Commands that went on after the call that started them was answered: those that run, and those that ended and
-- of whose end the model was not told yet. One that is still there as running when its session is opened was
-- running when Octo ended.

CREATE TABLE commands (
  session    INTEGER NOT NULL REFERENCES sessions (key),
  position   INTEGER NOT NULL,
  handle     TEXT NOT NULL,
  call       TEXT NOT NULL,
  command    TEXT NOT NULL,
  cwd        TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at   INTEGER,
  state_json TEXT NOT NULL,
  log        TEXT,
  last_line  TEXT NOT NULL,
  PRIMARY KEY (session, position)
) STRICT, WITHOUT ROWID;
