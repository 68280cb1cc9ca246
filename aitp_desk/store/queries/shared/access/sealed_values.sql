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

-- rows theirs_on_thread: Those of a person on a thread: a principal's, and all since a time.
thread_id = :thread_id AND (made_at >= :since OR principal = :whose);

-- delete_sealed_of_thread: Deletes sealed values of a thread: those of a principal, and all since a
-- time.
DELETE FROM sealed_values
WHERE {theirs_on_thread} RETURNING ref;

-- rows theirs: Those of a principal, on all threads and none, or on one.
principal = :whose AND (:thread_id = '' OR thread_id = :thread_id);

-- delete_sealed_of_principal: Deletes the sealed values of a principal, or those on one thread.
DELETE FROM sealed_values
WHERE {theirs} RETURNING ref;

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

-- personal_sealed_on_thread: Lists the sealed values that an erasure of a person deletes on a
-- thread, without the values.
SELECT ref, principal, thread_id, message_id, call_id, made_at
FROM sealed_values WHERE {theirs_on_thread} AND ref > :after ORDER BY ref LIMIT :limit;

-- personal_sealed: Lists the sealed values that an erasure of a principal deletes.
SELECT ref, principal, thread_id, message_id, call_id, made_at
FROM sealed_values WHERE {theirs} AND ref > :after ORDER BY ref LIMIT :limit;
