-- Every model call has a line: what it was for, what it used and cost, how long it took, and why it read less
-- from the cache than it should have. Calls between turns have no turn and no message.

CREATE TABLE ledger (
  key                 INTEGER PRIMARY KEY,
  session             INTEGER NOT NULL REFERENCES sessions (key),
  turn                TEXT,
  message             TEXT,
  purpose             TEXT NOT NULL,
  model               TEXT,
  name                TEXT NOT NULL,
  at                  INTEGER NOT NULL,
  reported            INTEGER NOT NULL, -- 1 when the provider said what it used
  input               INTEGER NOT NULL,
  cache_read          INTEGER NOT NULL,
  cache_write         INTEGER NOT NULL,
  output              INTEGER NOT NULL,
  written_for_an_hour INTEGER NOT NULL,
  cost                INTEGER,          -- in nano-dollars; null for unknown
  first_byte_ms       INTEGER,
  total_ms            INTEGER NOT NULL,
  outcome             TEXT NOT NULL,
  expected_read       INTEGER,
  miss_json           TEXT
) STRICT;

CREATE INDEX ledger_session ON ledger (session, key);
CREATE INDEX ledger_turn ON ledger (turn, key) WHERE turn IS NOT NULL;
CREATE INDEX ledger_at ON ledger (at);

INSERT INTO ledger (session, turn, message, purpose, model, name, at, reported, input, cache_read, cache_write,
                    output, written_for_an_hour, total_ms, outcome, expected_read)
  SELECT session, turn, message, 'turn', model,
         coalesce((SELECT json_extract(entry_json, '$.model') FROM models WHERE models.id = usage.model), ''),
         at, 1, input, cache_read, cache_write, output, 0, 0, 'answered', expected_cache_read
  FROM usage ORDER BY key;

DROP TABLE usage;

ALTER TABLE sessions ADD COLUMN effort TEXT;
