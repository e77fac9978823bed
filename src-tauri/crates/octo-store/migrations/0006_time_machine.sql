-- The time machine: the tree of a session's tasks, and what each path was like before and after them.
--
-- A task that is a run names its turn. The tree of tasks is the one truth about what goes on from what;
-- `turns.parent` is taken from it.

CREATE TABLE time_sessions (
  session INTEGER PRIMARY KEY REFERENCES sessions (key),
  active  INTEGER NOT NULL, -- the number of the active task
  last    INTEGER NOT NULL  -- the highest number ever given: none is used twice
) STRICT;

CREATE TABLE time_tasks (
  session    INTEGER NOT NULL REFERENCES sessions (key),
  number     INTEGER NOT NULL, -- 0 is the state before the first task
  parent     INTEGER,
  kind       TEXT NOT NULL,
  turn       TEXT UNIQUE,
  summary    TEXT NOT NULL,
  folder     BLOB NOT NULL,    -- in the system's own bytes
  started_at INTEGER NOT NULL,
  ended_at   INTEGER,
  PRIMARY KEY (session, number)
) STRICT, WITHOUT ROWID;

-- `side`: 0 as it was before the task first changed it, 1 as the task left it, 2 as it was when later work
-- first changed it, where somebody had changed it in between.
-- `source`: 0 a file tool named the path, 1 it was found in the session's folder, 2 a restore.
CREATE TABLE time_states (
  session    INTEGER NOT NULL REFERENCES sessions (key),
  path       BLOB NOT NULL,
  number     INTEGER NOT NULL,
  side       INTEGER NOT NULL,
  source     INTEGER NOT NULL,
  image_json TEXT NOT NULL,
  PRIMARY KEY (session, path, number, side)
) STRICT, WITHOUT ROWID;

CREATE INDEX time_states_task ON time_states (session, number, side);

-- Commands that run: what they change is found by the picture of the folder after them.
CREATE TABLE time_commands (
  key     INTEGER PRIMARY KEY AUTOINCREMENT,
  session INTEGER NOT NULL REFERENCES sessions (key),
  number  INTEGER NOT NULL,
  folder  BLOB NOT NULL
) STRICT;
