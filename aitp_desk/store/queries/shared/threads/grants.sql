-- columns grant: Of a grant, as it is read.
id, thread_id, principal, may, created_at, expires_at;

-- add_grant: Shares a thread.
INSERT INTO grants (id, thread_id, principal, may, hash, created_at, expires_at)
VALUES (:id, :thread_id, :principal, :may, :hash, :created_at, :expires_at);

-- set_grant: Says anew what a grant allows, and for how long.
UPDATE grants SET may = :may, expires_at = :expires_at WHERE id = :id;

-- delete_grant: Takes a grant back.
DELETE FROM grants WHERE id = :id AND thread_id = :thread_id;

-- delete_grants_of_thread: Takes all grants of a thread back.
DELETE FROM grants WHERE thread_id = :thread_id;

-- delete_expired_grants: Forgets the grants of a thread that have had their time.
DELETE FROM grants WHERE thread_id = :thread_id AND expires_at <= :now;

-- grants: Lists the grants of a thread, the newest first.
SELECT {grant} FROM grants
WHERE thread_id = :thread_id AND (expires_at IS NULL OR expires_at > :now)
ORDER BY created_at DESC, id DESC LIMIT :limit;

-- count_grants: Says how many grants a thread has.
SELECT count(*) FROM grants
WHERE thread_id = :thread_id AND (expires_at IS NULL OR expires_at > :now);

-- granted: Says what a principal was granted on a thread.
SELECT {grant} FROM grants
WHERE thread_id = :thread_id AND principal = :principal;

-- grant_by_hash: Finds the grant of a link by the hash of its secret.
SELECT {grant} FROM grants WHERE hash = :hash;

-- grant_of_thread: Finds a grant of a thread.
SELECT {grant} FROM grants
WHERE id = :id AND thread_id = :thread_id;
