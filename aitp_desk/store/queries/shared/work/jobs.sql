-- columns job: Of a job, as it is read.
id, kind, ref, desk, state, created_at, available_at, attempts, failures, last_error, finished_at;

-- add_job: Queues a job; nothing is changed where there is one of its kind for what it is about.
INSERT INTO jobs (
    id, kind, ref, desk, thread_id, principal, payload, state, created_at, available_at, attempts,
    failures
) VALUES (
    :id, :kind, :ref, :desk, :thread_id, :principal, :payload, 'queued', :created_at,
    :available_at, 0, 0
) ON CONFLICT (kind, ref) DO NOTHING;

-- askers: Lists for whom jobs of a kind wait or are at work (empty: for nobody known), with when a
-- worker that is at some may take up the next of each.
WITH RECURSIVE askers (who) AS (
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
    ) FROM askers WHERE who IS NOT NULL
)
SELECT who, (
    SELECT j.available_at FROM jobs j
    WHERE j.kind = :kind AND j.state IN ('queued', 'at_work') AND coalesce(j.principal, '') = who
      AND instr(:held, j.id) = 0
    ORDER BY j.available_at LIMIT 1
) FROM askers WHERE who IS NOT NULL;

-- due_jobs_of: Finds jobs of a kind, asked for by somebody, that may be taken up: those that wait no
-- longer, and those whose lease has ended; but none that the worker itself is at, whose clock may
-- have run on.
SELECT id, kind, ref, desk, principal, payload, created_at, attempts, failures, state
FROM jobs
WHERE kind = :kind AND state IN ('queued', 'at_work') AND coalesce(principal, '') = :who
  AND available_at <= :now AND instr(:held, id) = 0
ORDER BY available_at, id LIMIT :limit;

-- misdated_jobs: Finds jobs of a kind that wait for longer than anything does.
SELECT id, kind, ref, desk, principal, payload, created_at, attempts, failures, state
FROM jobs
WHERE kind = :kind AND state IN ('queued', 'at_work') AND available_at > :farthest
  AND leased_by IS NULL
ORDER BY available_at, id LIMIT :limit;

-- take_job: Gives a job to a worker.
UPDATE jobs
SET state = 'at_work', attempts = :attempt, failures = :failures, leased_by = :worker,
    available_at = :lease_until
WHERE id = :id;

-- held_job: Finds a job if the worker still holds it.
SELECT id FROM jobs
WHERE id = :id AND state = 'at_work' AND leased_by = :worker AND attempts = :attempt;

-- renew_job: Prolongs a lease, if the worker still holds the job.
UPDATE jobs SET available_at = :lease_until
WHERE id = :id AND state = 'at_work' AND leased_by = :worker AND attempts = :attempt
RETURNING id;

-- finish_job: Notes that a job is done; what it carried is not needed any more.
UPDATE jobs
SET state = 'done', payload = '{}', leased_by = NULL, last_error = NULL, finished_at = :now
WHERE id = :id;

-- put_back_job: Has a job wait for its next attempt.
UPDATE jobs
SET state = 'queued', failures = :failures, leased_by = NULL, available_at = :available_at,
    last_error = :error
WHERE id = :id;

-- bury_job: Gives a job up.
UPDATE jobs
SET state = 'dead', failures = :failures, leased_by = NULL, last_error = :error, finished_at = :now
WHERE id = :id;

-- release_all_jobs: Ends every lease; the jobs stay at work, for nobody knows how far they came.
UPDATE jobs SET leased_by = NULL, available_at = 0
WHERE kind = :kind AND state IN ('queued', 'at_work') AND leased_by IS NOT NULL
RETURNING id;

-- release_jobs_of_worker: Puts back what a worker holds; it is no failure.
UPDATE jobs SET state = 'queued', leased_by = NULL, available_at = 0
WHERE kind = :kind AND state IN ('queued', 'at_work') AND leased_by = :worker
RETURNING id;

-- job: Reads a job.
SELECT {job}
FROM jobs WHERE id = :id;

-- jobs_after: Lists the oldest jobs after one.
SELECT {job}
FROM jobs WHERE id > :after ORDER BY id LIMIT :limit;

-- dead_jobs: Lists the oldest jobs after one that were given up.
SELECT {job}
FROM jobs WHERE state = 'dead' AND finished_at IS NOT NULL AND id > :after
ORDER BY id LIMIT :limit;

-- count_dead_jobs: Counts the jobs that were given up, up to so many.
SELECT count(*) FROM (
    SELECT 1 FROM jobs WHERE state = 'dead' AND finished_at IS NOT NULL LIMIT :limit
) dead;

-- requeue_job: Queues a job anew, as if it had never failed.
UPDATE jobs SET state = 'queued', failures = 0, available_at = 0, finished_at = NULL WHERE id = :id;

-- drop_job: Forgets a job.
DELETE FROM jobs WHERE id = :id;

-- forget_jobs: Forgets the oldest jobs that ended in one way before a time.
DELETE FROM jobs WHERE id IN (
    SELECT id FROM jobs WHERE state = :state AND finished_at < :before
    ORDER BY finished_at LIMIT :limit
) RETURNING id;

-- drop_jobs_of_thread: Forgets the jobs of a thread that were asked for from a time on.
DELETE FROM jobs WHERE thread_id = :thread_id AND created_at >= :since RETURNING id;

-- drop_jobs_of_principal: Forgets the jobs that a principal has asked for.
DELETE FROM jobs
WHERE principal = :whose AND (:thread_id = '' OR thread_id = :thread_id) RETURNING id;

-- jobs_not_over: Counts jobs that wait or are at work, by kind and state, up to a bound; with when
-- the first of them was due.
SELECT kind, state, count(*), min(due_at) FROM (
    SELECT kind, state,
        CASE available_at WHEN 0 THEN created_at ELSE available_at END AS due_at
    FROM jobs WHERE state IN ('queued', 'at_work') LIMIT :limit
) AS pending GROUP BY kind, state;
