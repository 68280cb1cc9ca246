-- Keys that end, that are exchanged, and of which nothing is kept but their number.
-- of the kind "hmac" no secret is kept: hash is empty, and the secret comes from id and version
ALTER TABLE tokens ADD COLUMN kind TEXT NOT NULL DEFAULT 'api_key'
    CHECK (kind IN ('api_key', 'hmac'));
ALTER TABLE tokens ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
-- version of the data key that the hash is keyed by, or that the secret comes from
ALTER TABLE tokens ADD COLUMN data_key INTEGER NOT NULL DEFAULT 1;
ALTER TABLE tokens ADD COLUMN expires_at INTEGER;
ALTER TABLE tokens ADD COLUMN used_at INTEGER;
-- the secret of the version before, and until when it goes on working
ALTER TABLE tokens ADD COLUMN previous_hash BLOB;
ALTER TABLE tokens ADD COLUMN previous_data_key INTEGER;
ALTER TABLE tokens ADD COLUMN previous_until INTEGER;
