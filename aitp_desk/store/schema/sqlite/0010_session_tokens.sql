-- How many tokens the turns of a session have used together.
ALTER TABLE sessions ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0;
