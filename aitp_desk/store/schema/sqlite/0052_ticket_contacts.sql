-- The address at which the author of a request for a person wants the answer too.
ALTER TABLE tickets ADD COLUMN contact TEXT NOT NULL DEFAULT '';
