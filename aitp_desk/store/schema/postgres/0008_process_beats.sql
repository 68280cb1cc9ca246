-- What a process says of itself when it beats.
ALTER TABLE processes ADD COLUMN name TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE processes ADD COLUMN state TEXT COLLATE "C" NOT NULL DEFAULT 'up';
ALTER TABLE processes ADD COLUMN begun BIGINT NOT NULL DEFAULT 0;
