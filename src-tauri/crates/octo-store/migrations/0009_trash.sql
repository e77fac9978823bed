-- The one trash: what was deleted, by whom, from where. `kind` is open: skills, memories and tasks come later.
--
-- A file's content lies in the home under `trash/<id>/`, and its slip there is the truth: rows are made from slips.
-- A deleted session stays in its own tables until its entry goes; `session` names it.

CREATE TABLE trash (
  key        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  kind       TEXT NOT NULL,
  form       TEXT NOT NULL,
  path       BLOB NOT NULL,      -- where it was, as bytes; of a session its folder
  name       TEXT NOT NULL,
  folder     TEXT NOT NULL,
  size       INTEGER NOT NULL,
  files      INTEGER NOT NULL,
  mode       INTEGER NOT NULL,
  link       TEXT,
  at         INTEGER NOT NULL,
  who        TEXT NOT NULL,
  session    TEXT,
  turn       TEXT,
  project    TEXT,
  command    TEXT,
  made_again INTEGER NOT NULL    -- 1 for dependencies, build output and caches: they may go before their time
) STRICT;

CREATE INDEX trash_at ON trash (at DESC, key DESC);
CREATE INDEX trash_path ON trash (path, at DESC);
CREATE INDEX trash_session ON trash (session) WHERE kind = 'session';

-- Sessions that were deleted before there was a trash.
INSERT INTO trash (id, kind, form, path, name, folder, size, files, mode, at, who, session, project, made_again)
  SELECT lower(hex(randomblob(16))), 'session', 'folder', CAST(folder AS BLOB), title, folder,
         coalesce((SELECT sum(length(coalesce(text, '')) + length(coalesce(block_json, ''))) FROM blocks
                   WHERE blocks.key BETWEEN sessions.key << 40 AND ((sessions.key + 1) << 40) - 1), 0),
         (SELECT count(*) FROM messages
          WHERE messages.key BETWEEN sessions.key << 40 AND ((sessions.key + 1) << 40) - 1),
         0, deleted_at, 'person', id, folder, 0
  FROM sessions WHERE deleted_at IS NOT NULL;
