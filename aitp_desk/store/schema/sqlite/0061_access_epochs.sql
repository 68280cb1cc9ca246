-- How often access to a thread was lost without an event that says so.
ALTER TABLE threads ADD COLUMN access_epoch INTEGER NOT NULL DEFAULT 0;
