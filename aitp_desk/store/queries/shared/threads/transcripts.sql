-- transcript_keys: Lists the keys that sign transcripts or have signed any, the oldest first.
SELECT id, public, signs_from, signs_until, withdrawn_at FROM transcript_keys
ORDER BY signs_until IS NULL, signs_until, signs_from, id;

-- end_transcript_keys: Stores that the current transcript key no longer signs.
UPDATE transcript_keys SET signs_until = :now WHERE signs_until IS NULL;

-- add_transcript_key: Stores the public half of a key that signs transcripts. A former key is
-- reactivated; if the clock was ahead then, its start moves to the earlier time.
INSERT INTO transcript_keys (id, public, signs_from) VALUES (:id, :public, :signs_from)
ON CONFLICT (id) DO UPDATE
SET signs_until = NULL,
    signs_from = CASE WHEN excluded.signs_from < transcript_keys.signs_from
        THEN excluded.signs_from ELSE transcript_keys.signs_from END;

-- withdraw_transcript_key: Marks a transcript key as compromised, unless it is marked already.
UPDATE transcript_keys SET withdrawn_at = :now WHERE id = :id AND withdrawn_at IS NULL
RETURNING id;

-- message_link: Reads the link of a message, even if it was deleted.
SELECT link FROM messages WHERE thread_id = :thread_id AND seq = :seq;

-- proven_messages: Lists messages of a thread between two positions with their proofs, including
-- deleted ones.
SELECT seq, role, actor, created_at, content, attachments, salt, digest, link FROM messages
WHERE thread_id = :thread_id AND seq > :after AND seq <= :upto
ORDER BY seq LIMIT :limit;

-- erased_places: Lists the numbers of the messages of a thread that were deleted, up to one of them.
SELECT seq FROM messages WHERE thread_id = :thread_id AND seq <= :upto AND content IS NULL
ORDER BY seq;

-- countersignatures: Lists the signatures of a thread's heads, the oldest first.
SELECT c.key, c.site, c.seq, m.link, c.jws, c.actor, c.made_at
FROM countersignatures c JOIN messages m ON m.thread_id = c.thread_id AND m.seq = c.seq
WHERE c.thread_id = :thread_id ORDER BY c.made_at, c.key;

-- keep_countersignature: Stores a key's signature of a head, replacing that of an earlier head.
INSERT INTO countersignatures (thread_id, key, site, seq, jws, actor, made_at)
VALUES (:thread_id, :key, :site, :seq, :jws, :actor, :made_at)
ON CONFLICT (thread_id, key) DO UPDATE
SET site = excluded.site, seq = excluded.seq, jws = excluded.jws, actor = excluded.actor,
    made_at = excluded.made_at;

-- delete_countersignatures: Deletes the signatures of a thread's heads.
DELETE FROM countersignatures WHERE thread_id = :thread_id;
