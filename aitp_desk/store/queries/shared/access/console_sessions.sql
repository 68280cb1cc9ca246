-- add_console_session: Inserts the session of an operator who signed in.
INSERT INTO console_sessions (hash, key_id, key_hash, created_at, expires_at)
VALUES (:hash, :key_id, :key_hash, :created_at, :expires_at);

-- console_session: Finds a session by the hash of its secret.
SELECT hash, key_id, key_hash, created_at, expires_at FROM console_sessions WHERE hash = :hash;

-- end_console_session: Ends a session.
DELETE FROM console_sessions WHERE hash = :hash RETURNING key_id;

-- forget_console_sessions: Deletes expired sessions, the oldest first.
DELETE FROM console_sessions WHERE hash IN (
    SELECT hash FROM console_sessions WHERE expires_at <= :now ORDER BY expires_at LIMIT :limit
) RETURNING hash;

-- make_room_for_session: Ends the oldest sessions of a key that has many.
DELETE FROM console_sessions WHERE hash IN (
    SELECT hash FROM console_sessions WHERE key_id = :key_id
    ORDER BY created_at DESC, hash LIMIT 1000000 OFFSET :kept
) RETURNING hash;
