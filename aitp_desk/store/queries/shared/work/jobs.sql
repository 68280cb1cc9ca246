-- columns job: The columns of a job.
id, kind, ref, desk, state, created_at, available_at, attempts, failures, last_error, finished_at;

-- add_job: Queues a job; does nothing if one of its kind exists for the same subject.
INSERT INTO jobs (
    id, kind, ref, desk, thread_id, principal, payload, state, created_at, available_at, attempts,
    failures
) VALUES (
    :id, :kind, :ref, :desk, :thread_id, :principal, :payload, 'queued', :created_at,
    :available_at, 0, 0
) ON CONFLICT (kind, ref) DO NOTHING;

-- hasten_job: Makes a job that waits for its time due now.
UPDATE jobs SET available_at = :now
WHERE kind = :kind AND ref = :ref AND state = 'queued' AND available_at > :now;

-- add_done_job: Stores a job as done; does nothing if one of its kind exists for the same subject.
INSERT INTO jobs (
    id, kind, ref, desk, thread_id, principal, payload, state, created_at, available_at, attempts,
    failures, finished_at
) VALUES (
    :id, :kind, :ref, :desk, :thread_id, :principal, :payload, 'done', :created_at,
    :available_at, 0, 0, :created_at
) ON CONFLICT (kind, ref) DO NOTHING RETURNING id;

-- job_principals: Lists the principals (empty: unknown) whose jobs of a kind wait or run, with when each
-- one's next may be claimed by a worker that already runs some.
WITH RECURSIVE principals (who) AS (
    SELECT who FROM (
        SELECT coalesce(principal, '') AS who FROM jobs
        WHERE kind = :kind AND state IN ('queued', 'at_work')
        ORDER BY coalesce(principal, '') LIMIT 1
    ) AS first_one
    UNION ALL
    SELECT (
        SELECT coalesce(j.principal, '') FROM jobs j
        WHERE j.kind = :kind AND j.state IN ('queued', 'at_work')
          AND coalesce(j.principal, '') > who
        ORDER BY coalesce(j.principal, '') LIMIT 1
    ) FROM principals WHERE who IS NOT NULL
)
SELECT who, (
    SELECT j.available_at FROM jobs j
    WHERE j.kind = :kind AND j.state IN ('queued', 'at_work') AND coalesce(j.principal, '') = who
      AND instr(:held, j.id) = 0
    ORDER BY j.available_at LIMIT 1
) FROM principals WHERE who IS NOT NULL;

-- due_jobs_of: Finds jobs of a kind and a principal that may be claimed: those that are due, and
-- those whose lease has expired. Excludes the worker's own jobs, as its clock may have jumped.
SELECT id, kind, ref, desk, principal, payload, created_at, attempts, failures, state
FROM jobs
WHERE kind = :kind AND state IN ('queued', 'at_work') AND coalesce(principal, '') = :who
  AND available_at <= :now AND instr(:held, id) = 0
ORDER BY available_at, id LIMIT :limit;

-- job_principals_in_order: Lists the principals as above, of a kind whose jobs are done in the order of
-- their ids, with when each one's first may be claimed; NULL while the worker holds it.
WITH RECURSIVE principals (who) AS (
    SELECT who FROM (
        SELECT coalesce(principal, '') AS who FROM jobs
        WHERE kind = :kind AND state IN ('queued', 'at_work')
        ORDER BY coalesce(principal, '') LIMIT 1
    ) AS first_one
    UNION ALL
    SELECT (
        SELECT coalesce(j.principal, '') FROM jobs j
        WHERE j.kind = :kind AND j.state IN ('queued', 'at_work')
          AND coalesce(j.principal, '') > who
        ORDER BY coalesce(j.principal, '') LIMIT 1
    ) FROM principals WHERE who IS NOT NULL
)
SELECT who, (
    SELECT CASE WHEN instr(:held, j.id) = 0 THEN j.available_at END FROM jobs j
    WHERE j.kind = :kind AND j.state IN ('queued', 'at_work') AND coalesce(j.principal, '') = who
    ORDER BY j.id LIMIT 1
) FROM principals WHERE who IS NOT NULL;

-- first_job_of: Finds the first job of a kind and a principal, if it may be claimed; see
-- due_jobs_of, and misdated_jobs for the last condition.
SELECT id, kind, ref, desk, principal, payload, created_at, attempts, failures, state
FROM jobs
WHERE id = (
    SELECT j.id FROM jobs j
    WHERE j.kind = :kind AND j.state IN ('queued', 'at_work') AND coalesce(j.principal, '') = :who
    ORDER BY j.id LIMIT 1
) AND instr(:held, id) = 0
  AND (available_at <= :now OR (available_at > :farthest AND leased_by IS NULL));

-- misdated_jobs: Finds jobs of a kind scheduled further ahead than any delay allows.
SELECT id, kind, ref, desk, principal, payload, created_at, attempts, failures, state
FROM jobs
WHERE kind = :kind AND state IN ('queued', 'at_work') AND available_at > :farthest
  AND leased_by IS NULL
ORDER BY available_at, id LIMIT :limit;

-- take_job: Claims a job for a worker.
UPDATE jobs
SET state = 'at_work', attempts = :attempt, failures = :failures, leased_by = :worker,
    available_at = :lease_until
WHERE id = :id;

-- held_job: Finds a job if the worker still holds it.
SELECT id FROM jobs
WHERE id = :id AND state = 'at_work' AND leased_by = :worker AND attempts = :attempt;

-- renew_job: Renews a lease, if the worker still holds the job.
UPDATE jobs SET available_at = :lease_until
WHERE id = :id AND state = 'at_work' AND leased_by = :worker AND attempts = :attempt
RETURNING id;

-- finish_job: Marks a job as done and deletes its payload.
UPDATE jobs
SET state = 'done', payload = '{}', leased_by = NULL, last_error = NULL, finished_at = :now
WHERE id = :id;

-- put_back_job: Reschedules a job for its next attempt.
UPDATE jobs
SET state = 'queued', failures = :failures, leased_by = NULL, available_at = :available_at,
    last_error = :error
WHERE id = :id;

-- bury_job: Marks a job as dead.
UPDATE jobs
SET state = 'dead', failures = :failures, leased_by = NULL, last_error = :error, finished_at = :now
WHERE id = :id;

-- release_all_jobs: Ends every lease; the jobs stay running, as their progress is unknown.
UPDATE jobs SET leased_by = NULL, available_at = 0
WHERE kind = :kind AND state IN ('queued', 'at_work') AND leased_by IS NOT NULL
RETURNING id;

-- release_jobs_of_worker: Requeues the jobs of a worker; this counts as no failure.
UPDATE jobs SET state = 'queued', leased_by = NULL, available_at = 0
WHERE kind = :kind AND state IN ('queued', 'at_work') AND leased_by = :worker
RETURNING id;

-- job: Reads a job.
SELECT {job}
FROM jobs WHERE id = :id;

-- jobs_after: Lists the oldest jobs after one.
SELECT {job}
FROM jobs WHERE id > :after ORDER BY id LIMIT :limit;

-- dead_jobs: Lists the oldest jobs after one that are dead.
SELECT {job}
FROM jobs WHERE state = 'dead' AND finished_at IS NOT NULL AND id > :after
ORDER BY id LIMIT :limit;

-- count_dead_jobs: Counts dead jobs, up to a bound.
SELECT count(*) FROM (
    SELECT 1 FROM jobs WHERE state = 'dead' AND finished_at IS NOT NULL LIMIT :limit
) dead;

-- requeue_job: Queues a job again, as if it had never failed.
UPDATE jobs SET state = 'queued', failures = 0, available_at = 0, finished_at = NULL WHERE id = :id;

-- drop_job: Deletes a job.
DELETE FROM jobs WHERE id = :id;

-- forget_jobs: Deletes the oldest jobs that ended in a given state before a time.
DELETE FROM jobs WHERE id IN (
    SELECT id FROM jobs WHERE state = :state AND finished_at < :before
    ORDER BY finished_at LIMIT :limit
) RETURNING id;

-- rows on_thread: Those of a thread since a time.
thread_id = :thread_id AND created_at >= :since;

-- drop_jobs_of_thread: Deletes the jobs of a thread requested since a time.
DELETE FROM jobs WHERE {on_thread} RETURNING id;

-- rows theirs: Those of a principal, on all threads and none, or on one.
principal = :whose AND (:thread_id = '' OR thread_id = :thread_id);

-- drop_jobs_of_principal: Deletes the jobs that a principal requested.
DELETE FROM jobs
WHERE {theirs} RETURNING id;

-- disown_jobs: Keeps the unfinished jobs of a kind and a principal as nobody's.
UPDATE jobs SET principal = NULL
WHERE kind = :kind AND state IN ('queued', 'at_work') AND coalesce(principal, '') = :whose;

-- jobs_not_over: Counts unfinished jobs by kind and state, up to a bound, with when the first was
-- due.
SELECT kind, state, count(*), min(due_at) FROM (
    SELECT kind, state,
        CASE available_at WHEN 0 THEN created_at ELSE available_at END AS due_at
    FROM jobs WHERE state IN ('queued', 'at_work') LIMIT :limit
) AS pending GROUP BY kind, state;

-- personal_jobs_on_thread: Lists the jobs that an erasure of a person deletes on a thread.
SELECT id, principal, thread_id, kind, state, payload, created_at, finished_at
FROM jobs WHERE {on_thread} AND id > :after ORDER BY id LIMIT :limit;

-- personal_jobs: Lists the jobs that an erasure of a principal deletes.
SELECT id, principal, thread_id, kind, state, payload, created_at, finished_at
FROM jobs WHERE {theirs} AND id > :after ORDER BY id LIMIT :limit;
