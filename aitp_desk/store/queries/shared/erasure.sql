-- threads_after: Lists the oldest threads after one, for a walk through all that are not deleted.
SELECT id, owner, speaker FROM threads
WHERE id > :after AND deleted_at IS NULL ORDER BY id LIMIT :limit;

-- folded_after: Lists the oldest folded threads after one.
SELECT thread_id, turn FROM folded_turns WHERE thread_id > :after ORDER BY thread_id LIMIT :limit;

-- said_after: Lists the oldest messages of a thread after one, deleted ones too, with the run that
-- made or answers them and who said them: the principal that was noted, else the one that the actor was bound to then, else the owner.
SELECT m.id, m.seq, m.created_at, m.origin, m.actor, m.run_id,
       coalesce(m.principal, (
           SELECT a.principal FROM actors a
           WHERE a.thread_id = m.thread_id AND a.id = m.actor AND a.joined_event < m.event
             AND (a.left_event IS NULL OR a.left_event > m.event)
           ORDER BY a.position LIMIT 1
       ), t.owner),
       m.attachments
FROM messages m JOIN threads t ON t.id = m.thread_id
WHERE m.thread_id = :thread_id AND m.seq > :after ORDER BY m.seq LIMIT :limit;

-- runs_after: Lists the oldest runs of a thread after one, with who began them, and whether somebody
-- handed in what their tools gave; anybody where nobody is named.
SELECT r.created_at, r.id, r.started_by, EXISTS (
    SELECT 1 FROM run_givers g WHERE g.run_id = r.id AND (:whose = '' OR g.principal = :whose)
)
FROM runs r
WHERE r.thread_id = :thread_id AND (r.created_at, r.id) > (:created_at, :id)
ORDER BY r.created_at, r.id LIMIT :limit;

-- forks_after: Lists what was forked off a thread at a message or later, and off these.
WITH RECURSIVE forks (id) AS (
    SELECT id FROM threads WHERE parent_id = :thread_id AND parent_seq >= :seq
    UNION
    SELECT t.id FROM forks f JOIN threads t ON t.parent_id = f.id AND t.parent_seq IS NOT NULL
)
SELECT id FROM forks;

-- thread_end: Says where a thread ends, at whatever desk.
SELECT last_seq, last_link, last_event FROM threads WHERE id = :thread_id AND deleted_at IS NULL;

-- erase_message: Drops what a message said, as delete_message does, if it is there.
UPDATE messages
SET content = NULL, attachments = NULL, salt = NULL, metadata = '{}'
WHERE id = :id AND thread_id = :thread_id AND content IS NOT NULL
RETURNING seq;

-- erase_steps: Drops what was called in those of a thread's runs that were not over before a time.
DELETE FROM steps WHERE run_id IN (
    SELECT id FROM runs
    WHERE thread_id = :thread_id AND (finished_at IS NULL OR finished_at >= :since)
) RETURNING run_id;

-- erase_run: Drops what was asked of a run, and who asked; the run stays.
UPDATE runs
SET options = CASE WHEN options IS NULL THEN NULL ELSE '{}' END, metadata = '{}', owed = NULL,
    asked_by = NULL, started_by = NULL
WHERE id = :id AND thread_id = :thread_id
  AND (coalesce(asked_by, started_by) IS NOT NULL OR metadata <> '{}'
       OR coalesce(options, '{}') <> '{}')
RETURNING id;

-- erase_givers: Forgets that a principal handed in what the tools of a thread's runs gave; all who
-- did where nobody is named.
DELETE FROM run_givers
WHERE run_id IN (SELECT id FROM runs WHERE thread_id = :thread_id)
  AND (:whose = '' OR principal = :whose);

-- erase_thread_metadata: Drops a thread's metadata.
UPDATE threads SET metadata = '{}' WHERE id = :thread_id AND metadata <> '{}' RETURNING id;

-- erase_declared: Drops what a principal's or an actor's stays on a thread have declared; of all
-- visitors where none is named.
UPDATE actors SET capabilities = '[]'
WHERE thread_id = :thread_id AND origin = 'visitor' AND capabilities <> '[]'
  AND (:whose = '' OR id = :whose OR principal = :whose);

-- erase_once: Forgets the idempotency keys of a thread, but for those of other principals.
DELETE FROM idempotency
WHERE thread_id = :thread_id
  AND (substr(scope, 1, 10) <> 'principal ' OR scope = 'principal ' || :whose
       OR substr(scope, 1, length(:whose) + 14) = 'principal ' || :whose || ' at ')
RETURNING key;

-- erase_own_once: Forgets a principal's idempotency keys, at whatever desk, also those of threads that
-- were deleted.
DELETE FROM idempotency
WHERE scope = 'principal ' || :whose
   OR (scope > 'principal ' || :whose || ' at ' AND scope < 'principal ' || :whose || ' at!')
RETURNING key;

-- erase_grants: Takes back what was shared with a principal, so many at once: everywhere, or on the
-- one thread that is named.
DELETE FROM grants WHERE id IN (
    SELECT id FROM grants
    WHERE principal = :whose AND (:thread_id = '' OR thread_id = :thread_id)
    LIMIT :limit
) RETURNING id;

-- erase_grants_of_thread: Takes back with whom a thread is shared, so many at once.
DELETE FROM grants WHERE id IN (
    SELECT id FROM grants WHERE thread_id = :thread_id LIMIT :limit
) RETURNING id;

-- erasable_file: Finds a file that is nobody's or a principal's.
SELECT id FROM files WHERE id = :id AND (owner IS NULL OR owner = :whose);

-- erase_file_parts: Drops the bytes of a file, if it is nobody's or a principal's.
DELETE FROM file_parts WHERE file_id = (
    SELECT id FROM files WHERE id = :id AND (owner IS NULL OR owner = :whose)
);

-- erase_file: Drops a file, if it is nobody's or a principal's.
DELETE FROM files WHERE id = :id AND (owner IS NULL OR owner = :whose) RETURNING id;

-- files_owned: Lists the oldest of a principal's files after one, at whatever desk.
SELECT id FROM files WHERE owner = :owner AND id > :after ORDER BY id LIMIT :limit;
