-- People who write to Octo through a chat service, and what they wrote that no session has yet.

-- The chat service a person wrote a message in; null for a window.
ALTER TABLE messages ADD COLUMN via TEXT;

-- How far the news of an account at a service were fetched. Another bot is another account.
CREATE TABLE chat_accounts (
  service    TEXT NOT NULL,
  account    TEXT NOT NULL,
  next       INTEGER NOT NULL, -- the number of the first news that were not fetched
  fetched_at INTEGER NOT NULL, -- when any were fetched last
  PRIMARY KEY (service, account)
) STRICT, WITHOUT ROWID;

-- Who may write, with their chat: nobody whom the person at the computer did not let in.
CREATE TABLE chats (
  key       INTEGER PRIMARY KEY,
  service   TEXT NOT NULL,
  account   TEXT NOT NULL,
  person    TEXT NOT NULL,  -- the service's id of them
  name      TEXT NOT NULL,
  paired_at INTEGER NOT NULL,
  session   TEXT,           -- the session it goes on with; null: the next message begins one
  told      INTEGER NOT NULL DEFAULT 0, -- the number of the session's last event the chat was told of
  telling   INTEGER NOT NULL DEFAULT 0, -- the event it is being told of: whether that arrived is not known
  at_desk   INTEGER NOT NULL DEFAULT 0, -- 1 while the person's last message came from a window
  UNIQUE (service, account, person)
) STRICT;

-- Codes that strangers were told. Each process of the home knows them: any window may be where one is typed.
CREATE TABLE chat_offers (
  account TEXT NOT NULL,
  person  TEXT NOT NULL,
  name    TEXT NOT NULL,
  code    TEXT NOT NULL,
  until   INTEGER NOT NULL,
  said_at INTEGER NOT NULL,
  PRIMARY KEY (account, person)
) STRICT;

-- The sessions that were begun in a chat.
CREATE TABLE chat_sessions (
  chat    INTEGER NOT NULL REFERENCES chats (key) ON DELETE CASCADE,
  session TEXT NOT NULL,
  PRIMARY KEY (chat, session)
) STRICT, WITHOUT ROWID;

-- What was fetched. A row goes in the transaction that puts the message into its session.
CREATE TABLE chat_letters (
  key         INTEGER PRIMARY KEY AUTOINCREMENT,
  chat        INTEGER NOT NULL REFERENCES chats (key) ON DELETE CASCADE,
  at          INTEGER NOT NULL,
  letter_json TEXT NOT NULL
) STRICT;
