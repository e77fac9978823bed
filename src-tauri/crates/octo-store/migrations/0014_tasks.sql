-- Tasks that run at their time. What a task is to do is in its file in the home; here is what the person chose for it,
-- up to when its times were decided, and its runs. A task is known by the name of its file, without `.md`.

CREATE TABLE task_states (
  task     TEXT PRIMARY KEY,
  paused   INTEGER NOT NULL DEFAULT 0,
  accepted TEXT,     -- the hash of the file as the person wrote or accepted it; null: they never saw it
  decided  INTEGER   -- up to when its times were decided; null: it begins with the next look
) STRICT, WITHOUT ROWID;

-- A run, or a time at which there was none. It is over once `ended_at` says so.
CREATE TABLE task_runs (
  key         INTEGER PRIMARY KEY,
  id          TEXT NOT NULL UNIQUE,
  task        TEXT NOT NULL,
  name        TEXT NOT NULL,
  cause_json  TEXT NOT NULL,
  slot        INTEGER,  -- the time of the plan that set it off; null for one by hand and for a retry
  due         INTEGER NOT NULL,
  status_json TEXT NOT NULL,
  started_at  INTEGER,
  ended_at    INTEGER,
  session     TEXT,
  budget      INTEGER,  -- in nano-dollars, as of its start
  minutes     INTEGER NOT NULL,
  worked      INTEGER NOT NULL DEFAULT 0, -- milliseconds it worked, the person's time not counted
  ending      TEXT,     -- why it is being stopped
  cost        INTEGER NOT NULL DEFAULT 0,
  result      TEXT
) STRICT;

-- Each time fires at most once, whatever happens to the process or to the clock.
CREATE UNIQUE INDEX task_runs_slot ON task_runs (task, slot) WHERE slot IS NOT NULL;
CREATE INDEX task_runs_due ON task_runs (due DESC, key DESC);
CREATE INDEX task_runs_task ON task_runs (task, due DESC, key DESC);
CREATE INDEX task_runs_open ON task_runs (key) WHERE ended_at IS NULL;

-- Which process decides when tasks run.
CREATE TABLE schedule_lease (
  only    INTEGER PRIMARY KEY CHECK (only = 1),
  process INTEGER NOT NULL,
  started INTEGER NOT NULL,
  boot    TEXT NOT NULL,
  token   TEXT NOT NULL
) STRICT;
