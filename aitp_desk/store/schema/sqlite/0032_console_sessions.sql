-- Who has signed in to the operators' pages, by an API key. Times are Unix seconds.
CREATE TABLE console_sessions (
    hash       BLOB    NOT NULL PRIMARY KEY,  -- keyed, of what the cookie holds
    key_id     TEXT    NOT NULL,              -- of the API key
    key_hash   BLOB    NOT NULL,              -- of the secret that it had then, as tokens.hash
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX console_sessions_by_key ON console_sessions (key_id, created_at);
CREATE INDEX console_sessions_by_end ON console_sessions (expires_at);
