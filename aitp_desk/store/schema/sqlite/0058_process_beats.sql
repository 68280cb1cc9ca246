-- What a process says of itself when it beats.
ALTER TABLE processes ADD COLUMN name TEXT NOT NULL DEFAULT '';  -- for people
ALTER TABLE processes ADD COLUMN state TEXT NOT NULL DEFAULT 'up';  -- of its health
ALTER TABLE processes ADD COLUMN begun INTEGER NOT NULL DEFAULT 0;  -- Unix seconds
