-- Signing keys and clients come from a data key; a signing key may end those before it.
ALTER TABLE signing_keys ADD COLUMN data_key INTEGER NOT NULL DEFAULT 1;
ALTER TABLE signing_keys ADD COLUMN voids_earlier INTEGER NOT NULL DEFAULT 0;
ALTER TABLE clients ADD COLUMN data_key INTEGER NOT NULL DEFAULT 1;
