-- threads_opened: Lists the oldest threads after one that were opened before a time, with when they
-- were last used; deleted ones have no such time.
SELECT id, CASE WHEN deleted_at IS NULL THEN updated_at END FROM threads
WHERE id > :after AND id < :opened_before ORDER BY id LIMIT :limit;

-- old_thread: Reads where a thread ends that was not used since a time, at any desk.
SELECT last_seq, last_link, last_event FROM threads
WHERE id = :thread_id AND updated_at < :before AND deleted_at IS NULL;

-- open_work_on_thread: Finds work on a thread that is not over: an answer, a call or a ticket.
SELECT 1 FROM runs
WHERE thread_id = :thread_id AND finished_at IS NULL AND state <> 'requires_action'
UNION ALL SELECT 1 FROM calls
WHERE thread_id = :thread_id AND state IN ('started', 'waiting_approval')
UNION ALL SELECT 1 FROM tickets
WHERE thread_id = :thread_id AND state IN ('open', 'taken')
LIMIT 1;

-- delete_old_events: Deletes the events of the threads that were deleted first, before a time.
DELETE FROM events WHERE thread_id IN (
    SELECT id FROM threads
    WHERE deleted_at IS NOT NULL AND pruned_at IS NULL AND deleted_at < :before
    ORDER BY deleted_at LIMIT :limit
);

-- mark_pruned_threads: Stores when the events of these threads were deleted.
UPDATE threads SET pruned_at = :now WHERE id IN (
    SELECT id FROM threads
    WHERE deleted_at IS NOT NULL AND pruned_at IS NULL AND deleted_at < :before
    ORDER BY deleted_at LIMIT :limit
) RETURNING id;

-- delete_old_folded: Deletes the oldest folded threads that were not used since a time; the sum of
-- the rows is their number. One that was last used before it was opened before it, and so was its id.
DELETE FROM folded_turns WHERE thread_id IN (
    SELECT thread_id FROM folded_turns WHERE thread_id < :opened_before AND last_at < :before
    ORDER BY thread_id LIMIT :limit
) RETURNING 1;

-- delete_old_file_parts: Deletes the bytes of the oldest files that were uploaded before a time.
DELETE FROM file_parts WHERE file_id IN (
    SELECT id FROM files WHERE id < :uploaded_before ORDER BY id LIMIT :limit
);

-- delete_old_files: Drops these files.
DELETE FROM files WHERE id IN (
    SELECT id FROM files WHERE id < :uploaded_before ORDER BY id LIMIT :limit
) RETURNING id;

-- delete_old_tickets: Deletes the tickets of the oldest calls without a thread that ended before a
-- time, unless an operator has yet to handle one or a client has yet to be notified of its end.
DELETE FROM tickets WHERE call_id IN (
    SELECT id FROM calls
    WHERE thread_id IS NULL AND coalesce(ended_at, expires_at) < :before
        AND state IN ('succeeded', 'failed', 'expired', 'unknown')
        AND NOT EXISTS (SELECT 1 FROM tickets AS t WHERE t.call_id = calls.id AND t.ended_at IS NULL)
        AND NOT EXISTS (
            SELECT 1 FROM jobs WHERE kind = 'callback' AND ref = calls.id AND finished_at IS NULL
        )
    ORDER BY coalesce(ended_at, expires_at) LIMIT :limit
);

-- delete_old_calls: Drops these calls.
DELETE FROM calls WHERE id IN (
    SELECT id FROM calls
    WHERE thread_id IS NULL AND coalesce(ended_at, expires_at) < :before
        AND state IN ('succeeded', 'failed', 'expired', 'unknown')
        AND NOT EXISTS (SELECT 1 FROM tickets AS t WHERE t.call_id = calls.id AND t.ended_at IS NULL)
        AND NOT EXISTS (
            SELECT 1 FROM jobs WHERE kind = 'callback' AND ref = calls.id AND finished_at IS NULL
        )
    ORDER BY coalesce(ended_at, expires_at) LIMIT :limit
) RETURNING id;

-- old_audit: Finds the newest row of the audit log before the first that was written since a time,
-- and how many rows these are.
SELECT n, link, place FROM (
    SELECT n, link, row_number() OVER (ORDER BY n) AS place, max(at) OVER (ORDER BY n) AS latest
    FROM (SELECT n, at, link FROM audit WHERE n > 0 ORDER BY n LIMIT :limit) AS oldest
) AS dated
WHERE latest < :before ORDER BY n DESC LIMIT 1;

-- move_audit_anchor: Stores which row of the audit log was deleted last.
UPDATE audit_anchor SET n = :n, link = :link;

-- drop_audit: Deletes the rows of the audit log up to one.
DELETE FROM audit WHERE n <= :n;
