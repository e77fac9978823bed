-- Sessions as a person keeps them: what they looked at, who waits for them, and where a conversation comes from.

ALTER TABLE sessions ADD COLUMN read_at INTEGER;
-- Nobody has to look through everything again because of an update.
UPDATE sessions SET read_at = updated_at;

-- Those that wait for the person come first, however old they are.
DROP INDEX sessions_list;
CREATE INDEX sessions_list
  ON sessions (deleted_at, (status = 'waiting') DESC, pinned DESC, updated_at DESC, key DESC)
  WHERE source <> 'sub_agent';

-- A conversation that did not begin with its session: `branched` names the one it comes from and `message` its last
-- message that came along (null for all of them), `file` what it was read from.
CREATE TABLE origins (
  session  INTEGER PRIMARY KEY REFERENCES sessions (key),
  branched INTEGER REFERENCES sessions (key),
  title    TEXT NOT NULL, -- as it was then
  message  TEXT,
  file     TEXT,
  CHECK ((branched IS NULL) <> (file IS NULL))
) STRICT;

CREATE INDEX origins_branched ON origins (branched) WHERE branched IS NOT NULL;
