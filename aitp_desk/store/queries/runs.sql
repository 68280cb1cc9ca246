-- add_run: Queues a run, or notes one that is capped.
INSERT INTO jobs (
    id, kind, thread_id, state, created_at, available_at, attempts, finished_at
) VALUES (:id, 'run', :thread_id, :state, :created_at, :created_at, 0, :finished_at);

-- run: Reads a run.
SELECT id, thread_id, state, created_at, attempts, error FROM jobs WHERE id = :id AND kind = 'run';

-- waiting_run: Finds the run that waits on a thread.
SELECT id, thread_id, state, created_at, attempts, error FROM jobs
WHERE thread_id = :thread_id AND kind = 'run' AND state = 'queued';

-- newest_run: Finds a thread's newest run; of those of one second a capped one is the newest.
SELECT id, thread_id, state, created_at, attempts, error FROM jobs
WHERE thread_id = :thread_id AND kind = 'run'
ORDER BY created_at DESC, state = 'capped' DESC, id DESC LIMIT 1;

-- count_recent_runs: Counts the runs that a thread was given since a time.
SELECT count(*) FROM jobs
WHERE thread_id = :thread_id AND created_at > :since AND kind = 'run' AND state <> 'capped';

-- lapsed_runs: Finds runs in progress that nobody holds any more, with where their threads end.
SELECT j.id, j.thread_id, j.created_at, j.attempts, j.upto_seq,
       t.last_seq, t.last_link, t.last_event
FROM jobs j JOIN threads t ON t.id = j.thread_id
WHERE j.kind = 'run' AND j.state = 'in_progress' AND j.lease_until <= :now
ORDER BY j.lease_until, j.id LIMIT :limit;

-- claimable_runs: Finds runs that wait for a worker only, with where their threads end.
SELECT j.id, j.thread_id, j.created_at, t.last_seq, t.last_link, t.last_event
FROM jobs j JOIN threads t ON t.id = j.thread_id
WHERE j.kind = 'run' AND j.state = 'queued' AND j.available_at <= :now
  AND NOT EXISTS (
      SELECT 1 FROM jobs o
      WHERE o.thread_id = j.thread_id AND o.kind = 'run' AND o.state = 'in_progress'
  )
ORDER BY j.available_at, j.id LIMIT :limit;

-- take_run: Gives a run to a worker.
UPDATE jobs
SET state = 'in_progress', attempts = :attempt, upto_seq = :upto_seq, leased_by = :worker,
    lease_until = :lease_until
WHERE id = :id;

-- held_run: Says where a run's thread ends, if the worker still holds the run.
SELECT t.last_seq, t.last_link, t.last_event
FROM jobs j JOIN threads t ON t.id = j.thread_id
WHERE j.id = :id AND j.state = 'in_progress' AND j.leased_by = :worker AND j.attempts = :attempt;

-- renew_lease: Prolongs a lease, if the worker still holds the run.
UPDATE jobs SET lease_until = :lease_until
WHERE id = :id AND state = 'in_progress' AND leased_by = :worker AND attempts = :attempt
RETURNING id;

-- release_all_runs: Ends every lease; the attempts count.
UPDATE jobs SET leased_by = NULL, lease_until = 0
WHERE kind = 'run' AND state = 'in_progress'
RETURNING id;

-- release_runs_of_worker: Ends a worker's leases; the attempts do not count.
UPDATE jobs SET leased_by = NULL, lease_until = 0, attempts = attempts - 1
WHERE kind = 'run' AND state = 'in_progress' AND leased_by = :worker
RETURNING id;

-- end_run: Writes a run's last state.
UPDATE jobs
SET state = :state, error = :error, finished_at = :finished_at, leased_by = NULL, lease_until = NULL
WHERE id = :id;

-- unfinished_runs: Lists a thread's runs that are not over.
SELECT id, thread_id, state, created_at, attempts, error FROM jobs
WHERE thread_id = :thread_id AND kind = 'run' AND finished_at IS NULL ORDER BY created_at, id;

-- replies_of_run: Lists what the desk said in a run.
SELECT id, thread_id, seq, role, actor, origin, created_at, content, attachments, metadata, run_id
FROM messages
WHERE run_id = :run_id AND origin = 'desk' AND content IS NOT NULL ORDER BY seq;
