-- How often somebody has lost access to a thread without an event that says so.
ALTER TABLE threads ADD COLUMN access_epoch BIGINT NOT NULL DEFAULT 0;
