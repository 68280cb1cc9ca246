-- columns sealed: The columns of a sealed value.
ref, desk, sealed, thread_id, message_id, call_id, principal, made_at;

-- add_sealed: Inserts a sealed value.
INSERT INTO sealed_values ({sealed})
VALUES (:ref, :desk, :sealed, :thread_id, :message_id, :call_id, :principal, :made_at);

-- sealed_value: Reads a sealed value.
SELECT {sealed} FROM sealed_values WHERE ref = :ref;

-- give_sealed: Gives the ownerless sealed values of a thread to the thread's owner.
UPDATE sealed_values SET principal = :owner WHERE thread_id = :thread_id AND principal IS NULL;

-- delete_sealed_of_message: Deletes the sealed values of a message.
DELETE FROM sealed_values WHERE message_id = :message_id;

-- delete_sealed_of_thread: Deletes sealed values of a thread: those of a principal, and all since a
-- time.
DELETE FROM sealed_values
WHERE thread_id = :thread_id AND (made_at >= :since OR principal = :whose) RETURNING ref;

-- delete_sealed_of_principal: Deletes the sealed values of a principal, or those on one thread.
DELETE FROM sealed_values
WHERE principal = :whose AND (:thread_id = '' OR thread_id = :thread_id) RETURNING ref;

-- delete_sealed_without_call: Deletes values sealed for calls without a thread that no longer
-- exist.
DELETE FROM sealed_values
WHERE thread_id IS NULL AND call_id IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM calls WHERE calls.id = sealed_values.call_id);

-- delete_old_sealed: Deletes the oldest values that were sealed before a time.
DELETE FROM sealed_values WHERE ref IN (
    SELECT ref FROM sealed_values WHERE made_at < :before ORDER BY made_at LIMIT :limit
) RETURNING ref;

-- delete_all_sealed: Deletes every sealed value, for instance once the key is lost.
DELETE FROM sealed_values RETURNING ref;
