-- columns sealed: Of a sealed value, as it is read.
ref, desk, sealed, thread_id, message_id, call_id, principal, made_at;

-- add_sealed: Keeps a sealed value.
INSERT INTO sealed_values ({sealed})
VALUES (:ref, :desk, :sealed, :thread_id, :message_id, :call_id, :principal, :made_at);

-- sealed_value: Reads a sealed value.
SELECT {sealed} FROM sealed_values WHERE ref = :ref;

-- give_sealed: Gives what was sealed on a thread that had no owner to the one that it has.
UPDATE sealed_values SET principal = :owner WHERE thread_id = :thread_id AND principal IS NULL;

-- delete_sealed_of_message: Drops what a message brought.
DELETE FROM sealed_values WHERE message_id = :message_id;

-- delete_sealed_of_thread: Drops what was sealed on a thread: somebody's, and all since a time.
DELETE FROM sealed_values
WHERE thread_id = :thread_id AND (made_at >= :since OR principal = :whose) RETURNING ref;

-- delete_sealed_of_principal: Drops all that somebody gave, or what they gave on the one thread that is
-- named.
DELETE FROM sealed_values
WHERE principal = :whose AND (:thread_id = '' OR thread_id = :thread_id) RETURNING ref;

-- delete_sealed_without_call: Drops what was sealed for calls on no thread that are not kept any more.
DELETE FROM sealed_values
WHERE thread_id IS NULL AND call_id IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM calls WHERE calls.id = sealed_values.call_id);

-- delete_old_sealed: Drops the oldest values that were sealed before a time.
DELETE FROM sealed_values WHERE ref IN (
    SELECT ref FROM sealed_values WHERE made_at < :before ORDER BY made_at LIMIT :limit
) RETURNING ref;

-- delete_all_sealed: Drops every sealed value; nobody can open one any more.
DELETE FROM sealed_values RETURNING ref;
