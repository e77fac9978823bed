-- What a call paid for though it should have read it, and what that cost above reading. What was counted before prices
-- were kept with it has no cost: it is unknown.

ALTER TABLE ledger ADD COLUMN again INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ledger ADD COLUMN again_cost INTEGER; -- in nano-dollars; null for unknown

UPDATE ledger SET again = max(0, min(expected_read - cache_read, input + cache_write))
  WHERE miss_json IS NOT NULL AND expected_read IS NOT NULL AND reported = 1;
UPDATE ledger SET again_cost = 0 WHERE again = 0;

CREATE INDEX ledger_missed ON ledger (at) WHERE miss_json IS NOT NULL;

-- Why a conversation was not summed up is read back with the session, as answers to commands are.

ALTER TABLE notes ADD COLUMN kind TEXT NOT NULL DEFAULT 'answer';

INSERT INTO notes (key, at, note_json, kind)
  SELECT key, at, json_extract(event_json, '$.error'), 'not_compacted' FROM events
  WHERE json_extract(event_json, '$.type') = 'compaction_failed';
