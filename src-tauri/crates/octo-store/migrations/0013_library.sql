-- Skills and memories are files; this is what Octo knows of them besides. A skill is named by its name, where it
-- comes from and the folder it came with ('' where it came with none).

CREATE TABLE skill_choices (
  name      TEXT NOT NULL,
  origin    TEXT NOT NULL,
  project   TEXT NOT NULL,
  is_on     INTEGER,  -- null: as Octo has it
  automatic INTEGER,  -- null: as its author has it
  accepted  TEXT,     -- the fingerprint of what the person accepted
  used_at   INTEGER,
  quiet     INTEGER NOT NULL DEFAULT 0, -- 1: nothing is proposed for it any more
  PRIMARY KEY (name, origin, project)
) STRICT, WITHOUT ROWID;

CREATE TABLE skill_versions (
  name    TEXT NOT NULL,
  origin  TEXT NOT NULL,
  project TEXT NOT NULL,
  number  INTEGER NOT NULL,
  at      INTEGER NOT NULL,
  text    TEXT NOT NULL,
  PRIMARY KEY (name, origin, project, number)
) STRICT, WITHOUT ROWID;

-- What Octo proposes and the person has not answered.
CREATE TABLE suggestions (
  key     INTEGER PRIMARY KEY,
  id      TEXT NOT NULL UNIQUE,
  name    TEXT NOT NULL,
  kind    TEXT NOT NULL,
  reason  TEXT NOT NULL,
  session TEXT,
  title   TEXT NOT NULL,
  turn    TEXT,
  cost    INTEGER,
  at      INTEGER NOT NULL,
  text    TEXT NOT NULL,
  base    TEXT         -- the SKILL.md it was made from; null for a new one
) STRICT;

-- Which session wrote a memory last; no row for the person.
CREATE TABLE memory_writers (
  file    TEXT PRIMARY KEY,
  session TEXT NOT NULL,
  at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
