-- columns key: The columns of an API key.
id, name, kind, version, data_key, hash, scopes, created_at, expires_at, used_at, revoked_at,
previous_hash, previous_data_key, previous_until;

-- look_up_once: Finds what an idempotency key stands for.
SELECT fingerprint, thread_id, message_id, run_id
FROM idempotency WHERE scope = :scope AND key = :key AND created_at >= :since;

-- remember_once: Stores what an idempotency key stands for, replacing an expired entry.
INSERT INTO idempotency (scope, key, fingerprint, thread_id, message_id, run_id, created_at)
VALUES (:scope, :key, :fingerprint, :thread_id, :message_id, :run_id, :created_at)
ON CONFLICT (scope, key) DO UPDATE SET fingerprint = excluded.fingerprint,
    thread_id = excluded.thread_id, message_id = excluded.message_id, run_id = excluded.run_id,
    created_at = excluded.created_at;

-- delete_old_once: Deletes expired idempotency keys.
DELETE FROM idempotency WHERE (scope, key) IN (
    SELECT scope, key FROM idempotency WHERE created_at < :before
    ORDER BY created_at LIMIT :limit
) RETURNING key;

-- add_session: Opens a session.
INSERT INTO sessions (id, thread_id, owner, turns, created_at, last_at, pending, tokens, heard,
    kept_until)
VALUES (:id, :thread_id, :owner, :turns, :created_at, :last_at, :pending, :tokens, :heard,
    :kept_until);

-- move_session: Updates the state of a session after a turn; concurrent ones add up. Returns its turns.
UPDATE sessions SET
    turns = CASE WHEN turns < :turns THEN :turns ELSE turns + :more_turns END,
    tokens = CASE WHEN turns < :turns OR turns + :more_turns = :turns THEN :tokens
        ELSE tokens + :more_tokens END,
    last_at = :last_at, pending = :pending,
    heard = CASE WHEN heard > :heard THEN heard ELSE :heard END,
    kept_until = CASE WHEN kept_until > :kept_until THEN kept_until ELSE :kept_until END
WHERE id = :id AND thread_id = :thread_id
RETURNING turns;

-- keep_sessions: Extends the sessions of a thread to a time; never shortens them.
UPDATE sessions SET kept_until = :until WHERE thread_id = :thread_id AND kept_until < :until;

-- session: Reads a session.
SELECT s.id, s.thread_id, s.owner, s.turns, s.created_at, s.last_at, s.pending, s.tokens, s.heard,
    s.kept_until, t.desk
FROM sessions AS s JOIN threads AS t ON t.id = s.thread_id
WHERE s.id = :id;

-- session_of_thread: Finds the session of a thread, the newest where there are several.
SELECT id FROM sessions WHERE thread_id = :thread_id ORDER BY id DESC LIMIT 1;

-- delete_idle_sessions: Deletes idle sessions, the oldest first. One that was last used before a
-- time was opened before it, and so was its id.
DELETE FROM sessions WHERE id IN (
    SELECT id FROM sessions WHERE id < :opened_before AND last_at < :before AND kept_until < :before
    ORDER BY id LIMIT :limit
) RETURNING id;

-- give_sessions: Gives a thread's sessions to a principal.
UPDATE sessions SET owner = :owner WHERE thread_id = :thread_id;

-- forget_pending_of_thread: Clears the pending questions of a thread's sessions.
UPDATE sessions SET pending = NULL WHERE thread_id = :thread_id;

-- delete_sessions_of_thread: Deletes a thread's sessions.
DELETE FROM sessions WHERE thread_id = :thread_id;

-- add_token: Inserts a key: an API key, or one that signs requests.
INSERT INTO tokens (id, name, kind, version, data_key, hash, scopes, created_at, expires_at)
VALUES (:id, :name, :kind, :version, :data_key, :hash, :scopes, :created_at, :expires_at);

-- live_token_named: Finds the key of a name that is not revoked.
SELECT id FROM tokens WHERE name = :name AND revoked_at IS NULL;

-- live_token: Finds a key that is not revoked, by its id or else its name.
SELECT {key}
FROM tokens
WHERE (id = :id_or_name OR name = :id_or_name) AND revoked_at IS NULL
ORDER BY CASE WHEN id = :id_or_name THEN 0 ELSE 1 END LIMIT 1;

-- revoke_token: Revokes a key.
UPDATE tokens SET revoked_at = :revoked_at WHERE id = :id
RETURNING {key};

-- rotate_token: Adds a new secret to a key; the previous one is kept.
UPDATE tokens SET
    previous_hash = hash, previous_data_key = data_key, previous_until = :previous_until,
    hash = :hash, data_key = :data_key, version = version + 1
WHERE id = :id
RETURNING {key};

-- note_token_use: Updates when a key was last used.
UPDATE tokens SET used_at = :used_at WHERE id = :id AND coalesce(used_at, 0) < :used_at;

-- token: Reads a key by its id.
SELECT {key}
FROM tokens WHERE id = :id;

-- tokens: Lists all keys, the oldest first.
SELECT {key}
FROM tokens ORDER BY created_at, id;

-- raise_epoch: Signals a running desk that something it caches has changed.
INSERT INTO epochs (name, value) VALUES (:name, 1)
ON CONFLICT (name) DO UPDATE SET value = epochs.value + 1;

-- epoch: Reads the change counter.
SELECT value FROM epochs WHERE name = :name;
