-- threads_opened: Lists the oldest threads after one that were opened before a time, with when they
-- were last used; deleted ones have no such time.
SELECT id, CASE WHEN deleted_at IS NULL THEN updated_at END FROM threads
WHERE id > :after AND id < :opened_before ORDER BY id LIMIT :limit;

-- old_thread: Says where a thread ends that was not used since a time, at whatever desk.
SELECT last_seq, last_link, last_event FROM threads
WHERE id = :thread_id AND updated_at < :before AND deleted_at IS NULL;

-- delete_old_folded: Drops the oldest folded threads that were not used since a time. One that was
-- last used before it was opened before it, and so was its id.
DELETE FROM folded_turns WHERE thread_id IN (
    SELECT thread_id FROM folded_turns WHERE thread_id < :opened_before AND last_at < :before
    ORDER BY thread_id LIMIT :limit
) RETURNING thread_id;

-- delete_old_file_parts: Drops the bytes of the oldest files that were uploaded before a time.
DELETE FROM file_parts WHERE file_id IN (
    SELECT id FROM files WHERE id < :uploaded_before ORDER BY id LIMIT :limit
);

-- delete_old_files: Drops these files.
DELETE FROM files WHERE id IN (
    SELECT id FROM files WHERE id < :uploaded_before ORDER BY id LIMIT :limit
) RETURNING id;

-- oldest_audit: Lists the oldest rows of the audit log.
SELECT n, at, link FROM audit WHERE n > 0 ORDER BY n LIMIT :limit;

-- move_audit_anchor: Says which row of the audit log was dropped last.
UPDATE audit_anchor SET n = :n, link = :link;

-- drop_audit: Drops the rows of the audit log up to one.
DELETE FROM audit WHERE n <= :n;
