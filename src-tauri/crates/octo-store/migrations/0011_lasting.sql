-- What a task did that going to another task does not take back, and a conversation that is elsewhere than the files.

CREATE TABLE time_lasting (
  session INTEGER NOT NULL REFERENCES sessions (key),
  number  INTEGER NOT NULL, -- the task
  kind    TEXT NOT NULL,
  what    TEXT NOT NULL,    -- the command, the place in the browser or the path
  times   INTEGER NOT NULL,
  call    TEXT NOT NULL,    -- the last one
  at      INTEGER NOT NULL, -- when that was
  PRIMARY KEY (session, number, kind, what)
) STRICT, WITHOUT ROWID;

-- How much more a task did than is listed.
ALTER TABLE time_tasks ADD COLUMN lasting_more INTEGER NOT NULL DEFAULT 0;

-- The task whose conversation this one went on from, where it is not the one whose files it went on from.
ALTER TABLE time_tasks ADD COLUMN said_after INTEGER;

-- The task the conversation is at; null where it is at the active one.
ALTER TABLE time_sessions ADD COLUMN conversation INTEGER;

-- Where the conversation goes; null where it goes to the same task as the files.
ALTER TABLE time_journeys ADD COLUMN conversation INTEGER;
