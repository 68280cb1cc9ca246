-- A client that is given another secret goes on with the one before for a while.
ALTER TABLE clients ADD COLUMN version INTEGER NOT NULL DEFAULT 1;  -- raised with every secret
ALTER TABLE clients ADD COLUMN previous_hash BLOB;         -- NULL: it had none
ALTER TABLE clients ADD COLUMN previous_data_key INTEGER;
ALTER TABLE clients ADD COLUMN previous_until INTEGER;     -- Unix seconds
