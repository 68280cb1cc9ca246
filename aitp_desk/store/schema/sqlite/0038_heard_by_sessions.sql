-- What people say on a session's thread is told in its next turn, once; where a person was asked, the
-- session is kept for as long as that person is waited for.
ALTER TABLE sessions ADD COLUMN heard INTEGER NOT NULL DEFAULT 0;       -- seq of the newest that was told
ALTER TABLE sessions ADD COLUMN kept_until INTEGER NOT NULL DEFAULT 0;  -- Unix seconds
