-- threads_after: Lists the oldest threads after one, to iterate over all that are not deleted.
SELECT id, owner, speaker FROM threads
WHERE id > :after AND deleted_at IS NULL ORDER BY id LIMIT :limit;

-- folded_after: Lists the oldest folded threads after one.
SELECT thread_id, turn FROM folded_turns WHERE thread_id > :after ORDER BY thread_id LIMIT :limit;

-- said_after: Lists the oldest messages of a thread after one, including deleted ones, with the run
-- that wrote or answers them and their author: the recorded principal, else the one that the actor
-- was bound to then, else the owner.
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

-- runs_after: Lists the oldest runs of a thread after one, with who started them, and whether a
-- principal submitted tool results for them (any principal if none is named).
SELECT r.created_at, r.id, r.started_by, CAST(EXISTS (
    SELECT 1 FROM run_givers g WHERE g.run_id = r.id AND (:whose = '' OR g.principal = :whose)
) AS INTEGER)
FROM runs r
WHERE r.thread_id = :thread_id AND (r.created_at, r.id) > (:created_at, :id)
ORDER BY r.created_at, r.id LIMIT :limit;

-- forks_after: Lists the forks of a thread at a message or later, and their forks.
WITH RECURSIVE forks (id) AS (
    SELECT id FROM threads WHERE parent_id = :thread_id AND parent_seq >= :seq
    UNION
    SELECT t.id FROM forks f JOIN threads t ON t.parent_id = f.id AND t.parent_seq IS NOT NULL
)
SELECT id FROM forks;

-- thread_end: Reads where a thread ends, at any desk.
SELECT last_seq, last_link, last_event FROM threads WHERE id = :thread_id AND deleted_at IS NULL;

-- erase_message: Deletes the content of a message, as delete_message does, if it exists.
UPDATE messages
SET content = NULL, attachments = NULL, salt = NULL, metadata = '{}'
WHERE id = :id AND thread_id = :thread_id AND content IS NOT NULL
RETURNING seq;

-- rows steps_since: Those of a thread's runs that ended after a time or have not ended.
run_id IN (
    SELECT id FROM runs
    WHERE thread_id = :thread_id AND (finished_at IS NULL OR finished_at >= :since)
);

-- erase_steps: Deletes the steps of a thread's runs that ended after a time or have not ended.
DELETE FROM steps WHERE {steps_since} RETURNING run_id;

-- erase_run: Deletes the request of a run and its principal; the run stays.
UPDATE runs
SET options = CASE WHEN options IS NULL THEN NULL ELSE '{}' END, metadata = '{}', owed = NULL,
    asked_by = NULL, started_by = NULL
WHERE id = :id AND thread_id = :thread_id
  AND (coalesce(asked_by, started_by) IS NOT NULL OR metadata <> '{}'
       OR coalesce(options, '{}') <> '{}')
RETURNING id;

-- rows given: Those of a thread and a principal, or of all if none is named.
run_id IN (SELECT id FROM runs WHERE thread_id = :thread_id)
  AND (:whose = '' OR principal = :whose);

-- erase_givers: Deletes the record that a principal submitted tool results for a thread's runs; of
-- all principals if none is named.
DELETE FROM run_givers
WHERE {given};

-- erase_thread_metadata: Deletes a thread's metadata.
UPDATE threads SET metadata = '{}' WHERE id = :thread_id AND metadata <> '{}' RETURNING id;

-- rows stays: Stays of a principal or an actor on a thread; of all visitors if none is named.
thread_id = :thread_id AND origin = 'visitor'
  AND (:whose = '' OR id = :whose OR principal = :whose);

-- erase_declared: Deletes what the stays of a principal or an actor on a thread declared; of all
-- visitors if none is named.
UPDATE actors SET capabilities = '[]'
WHERE {stays} AND capabilities <> '[]';

-- rows once_on_thread: Those of a thread, except those of other principals.
thread_id = :thread_id
  AND (substr(scope, 1, 10) <> 'principal ' OR scope = 'principal ' || :whose
       OR substr(scope, 1, length(:whose) + 14) = 'principal ' || :whose || ' at ');

-- erase_once: Deletes the idempotency keys of a thread, except those of other principals.
DELETE FROM idempotency
WHERE {once_on_thread}
RETURNING key;

-- rows once: Those of a principal at any desk.
(scope = 'principal ' || :whose
    OR (scope > 'principal ' || :whose || ' at ' AND scope < 'principal ' || :whose || ' at!'));

-- erase_own_once: Deletes a principal's idempotency keys at any desk, including those of deleted
-- threads.
DELETE FROM idempotency
WHERE {once}
RETURNING key;

-- rows granted: Those of a principal, everywhere or on one thread.
principal = :whose AND (:thread_id = '' OR thread_id = :thread_id);

-- erase_grants: Deletes grants to a principal in batches: everywhere, or on one thread.
DELETE FROM grants WHERE id IN (
    SELECT id FROM grants
    WHERE {granted}
    LIMIT :limit
) RETURNING id, thread_id;

-- erase_grants_of_thread: Deletes the grants of a thread in batches.
DELETE FROM grants WHERE id IN (
    SELECT id FROM grants WHERE thread_id = :thread_id LIMIT :limit
) RETURNING id, thread_id;

-- erasable_file: Finds a file without an owner or of a principal.
SELECT id FROM files WHERE id = :id AND (owner IS NULL OR owner = :whose);

-- erase_file_parts: Deletes the bytes of a file, if it has no owner or belongs to a principal.
DELETE FROM file_parts WHERE file_id = (
    SELECT id FROM files WHERE id = :id AND (owner IS NULL OR owner = :whose)
);

-- erase_file: Deletes a file, if it has no owner or belongs to a principal.
DELETE FROM files WHERE id = :id AND (owner IS NULL OR owner = :whose) RETURNING id;

-- files_owned: Lists the oldest of a principal's files after one, at any desk.
SELECT id FROM files WHERE owner = :owner AND id > :after ORDER BY id LIMIT :limit;

-- personal_steps: Lists the steps that an erasure of a person deletes on a thread.
SELECT run_id || ' ' || CAST(position AS TEXT),
    (SELECT r.started_by FROM runs r WHERE r.id = steps.run_id), run_id, position, text, calls,
    created_at, completed_at
FROM steps WHERE {steps_since}
  AND run_id || ' ' || CAST(position AS TEXT) > :after ORDER BY 1 LIMIT :limit;

-- personal_givers: Lists who submitted tool results for which runs of a thread.
SELECT run_id || ' ' || principal, principal, run_id
FROM run_givers WHERE {given} AND run_id || ' ' || principal > :after ORDER BY 1 LIMIT :limit;

-- personal_stays: Lists when a principal or an actor took part in a thread, and what they declared.
SELECT CAST(position AS TEXT), principal, thread_id, id, capabilities, left_seq
FROM actors WHERE {stays} AND CAST(position AS TEXT) > :after ORDER BY 1 LIMIT :limit;

-- personal_once_on_thread: Lists the idempotency keys that an erasure deletes on a thread.
SELECT scope || ' ' || key, CASE WHEN substr(scope, 1, 10) = 'principal ' THEN :whose END,
    thread_id, key, created_at
FROM idempotency WHERE {once_on_thread}
  AND scope || ' ' || key > :after ORDER BY 1 LIMIT :limit;

-- personal_once: Lists the idempotency keys that an erasure of a principal deletes.
SELECT scope || ' ' || key, :whose, thread_id, key, created_at
FROM idempotency WHERE {once} AND scope || ' ' || key > :after ORDER BY 1 LIMIT :limit;

-- personal_grants: Lists the grants that an erasure of a principal deletes.
SELECT id, principal, thread_id, may, created_at, expires_at
FROM grants WHERE {granted} AND id > :after ORDER BY id LIMIT :limit;

-- personal_grants_of_thread: Lists the grants that an erasure of a thread's visitors deletes.
SELECT id, principal, thread_id, may, created_at, expires_at
FROM grants WHERE thread_id = :thread_id AND id > :after ORDER BY id LIMIT :limit;

-- personal_runs: Lists the runs of a thread, with what was requested of them.
SELECT id, started_by, thread_id, state, options, metadata, owed, error, created_at, finished_at
FROM runs WHERE thread_id = :thread_id AND id > :after ORDER BY id LIMIT :limit;

-- personal_messages: Lists a thread's messages that were not deleted after one.
SELECT seq, principal, id, thread_id, role, actor, content, attachments, metadata, run_id, created_at
FROM messages WHERE thread_id = :thread_id AND seq > :after AND content IS NOT NULL
ORDER BY seq LIMIT :limit;

-- personal_thread: Reads what a thread's opener stated about it, and its summary.
SELECT id, owner, metadata, (SELECT s.text FROM summaries s WHERE s.thread_id = threads.id),
    created_at, updated_at
FROM threads WHERE id = :thread_id AND id > :after LIMIT :limit;

-- personal_sessions: Lists the sessions of a thread, with the questions that wait.
SELECT id, owner, thread_id, pending, created_at, last_at
FROM sessions WHERE thread_id = :thread_id AND id > :after ORDER BY id LIMIT :limit;
