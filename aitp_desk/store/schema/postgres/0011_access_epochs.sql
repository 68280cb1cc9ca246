-- How often access to a thread was lost without an event that says so.
ALTER TABLE threads ADD COLUMN access_epoch BIGINT NOT NULL DEFAULT 0;
