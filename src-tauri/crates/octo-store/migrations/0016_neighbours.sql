-- What one process asks of another that works on a session: a turn or a command in the background is to end. `what` is
-- the turn's id or the command's handle, so that nothing that begins later is meant.
CREATE TABLE stop_wishes (
  session INTEGER NOT NULL REFERENCES sessions (key),
  what    TEXT NOT NULL,
  PRIMARY KEY (session, what)
) STRICT, WITHOUT ROWID;
