-- What a process has done and is at when it beats, as JSON.
ALTER TABLE processes ADD COLUMN figures TEXT NOT NULL DEFAULT '';
