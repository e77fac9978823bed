-- Sub-agents: sessions that work on a part of another one's task. They stand in no list and no search, and go where
-- their parent goes.

CREATE TABLE forks (
  session    INTEGER PRIMARY KEY REFERENCES sessions (key),
  parent     INTEGER NOT NULL REFERENCES sessions (key),
  turn       TEXT NOT NULL, -- the parent's
  call       TEXT NOT NULL, -- the parent's
  name       TEXT NOT NULL, -- the skill's
  tools_json TEXT NOT NULL -- the tools it may not use
) STRICT;

CREATE INDEX forks_parent ON forks (parent, session);
CREATE INDEX forks_turn ON forks (turn, session);

-- The list walks these; it must not meet what it does not show.
DROP INDEX sessions_list;
DROP INDEX sessions_folder;
CREATE INDEX sessions_list ON sessions (deleted_at, pinned DESC, updated_at DESC, key DESC)
  WHERE source <> 'sub_agent';
CREATE INDEX sessions_folder ON sessions (folder, deleted_at, updated_at DESC, key DESC)
  WHERE source <> 'sub_agent';
