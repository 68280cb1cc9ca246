-- columns grant: The columns of a grant.
id, thread_id, principal, may, created_at, expires_at;

-- add_grant: Shares a thread.
INSERT INTO grants (id, thread_id, principal, may, hash, created_at, expires_at)
VALUES (:id, :thread_id, :principal, :may, :hash, :created_at, :expires_at);

-- set_grant: Updates what a grant allows and when it expires.
UPDATE grants SET may = :may, expires_at = :expires_at WHERE id = :id;

-- delete_grant: Deletes a grant.
DELETE FROM grants WHERE id = :id AND thread_id = :thread_id;

-- raise_access_epoch: Notes that access to a thread was lost without an event.
UPDATE threads SET access_epoch = access_epoch + 1 WHERE id = :thread_id;

-- access_epoch: Reads how often access to a thread was lost without an event.
SELECT access_epoch FROM threads WHERE id = :thread_id;

-- delete_grants_of_thread: Deletes all grants of a thread.
DELETE FROM grants WHERE thread_id = :thread_id;

-- delete_expired_grants: Deletes the expired grants of a thread.
DELETE FROM grants WHERE thread_id = :thread_id AND expires_at <= :now;

-- grants: Lists the grants of a thread, the newest first.
SELECT {grant} FROM grants
WHERE thread_id = :thread_id AND (expires_at IS NULL OR expires_at > :now)
ORDER BY created_at DESC, id DESC LIMIT :limit;

-- count_grants: Counts the grants of a thread.
SELECT count(*) FROM grants
WHERE thread_id = :thread_id AND (expires_at IS NULL OR expires_at > :now);

-- granted: Reads what a principal was granted on a thread.
SELECT {grant} FROM grants
WHERE thread_id = :thread_id AND principal = :principal;

-- grant_by_hash: Finds the grant of a link by the hash of its secret.
SELECT {grant} FROM grants WHERE hash = :hash;

-- grant_of_thread: Finds a grant of a thread.
SELECT {grant} FROM grants
WHERE id = :id AND thread_id = :thread_id;
