-- A turn the person stopped is marked at once, so that no later start goes on with it.

ALTER TABLE turns ADD COLUMN stopping INTEGER NOT NULL DEFAULT 0;
