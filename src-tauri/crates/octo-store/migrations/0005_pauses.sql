-- What a session shows between and within turns: a guess at the next message, a used-up budget.

ALTER TABLE sessions ADD COLUMN suggestion_json TEXT;
ALTER TABLE sessions ADD COLUMN budget_json TEXT;
