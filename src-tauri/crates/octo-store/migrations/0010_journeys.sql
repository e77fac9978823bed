-- Going to another task: what was undone, and what a crash left half-way between files and conversation.

ALTER TABLE turns ADD COLUMN undone INTEGER NOT NULL DEFAULT 0;

-- Written before files change, removed with the change of the conversation.
CREATE TABLE time_journeys (
  session INTEGER PRIMARY KEY REFERENCES sessions (key),
  task    INTEGER NOT NULL,
  kept    TEXT -- the turn that asked and stays visible
) STRICT;
