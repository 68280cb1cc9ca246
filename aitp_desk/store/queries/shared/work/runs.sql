-- columns run: Of a run, as it is read.
id, thread_id, state, created_at, attempts, error, agent, options, metadata, usage, started_at,
finished_at, lease_until, owed;

-- add_run: Queues a run, or notes one that is capped.
INSERT INTO runs (
    id, thread_id, state, created_at, available_at, attempts, finished_at, asked_by,
    started_by, agent, options, metadata
) VALUES (
    :id, :thread_id, :state, :created_at, :created_at, 0, :finished_at, :asked_by,
    :started_by, :agent, :options, :metadata
);

-- run: Reads a run, and for whom it works.
SELECT id, thread_id, state, created_at, attempts, error, agent, options, metadata, usage,
       started_at, finished_at, lease_until, owed, asked_by
FROM runs WHERE id = :id;

-- waiting_run: Finds the run that waits on a thread and was never taken up.
SELECT id, thread_id, state, created_at, attempts, error, agent, options, metadata, usage,
       started_at, finished_at, lease_until, owed, asked_by
FROM runs
WHERE thread_id = :thread_id AND state = 'queued' AND attempts_before = 0;

-- run_at_work: Finds the run that is at work on a thread, or waits for its caller.
SELECT {run}
FROM runs
WHERE thread_id = :thread_id AND (
    state IN ('in_progress', 'requires_action', 'cancelling')
    OR (state = 'queued' AND attempts_before > 0)
);

-- newest_run: Finds a thread's newest run; of those of one second a capped one is the newest.
SELECT {run}
FROM runs
WHERE thread_id = :thread_id
ORDER BY created_at DESC, state = 'capped' DESC, id DESC LIMIT 1;

-- runs_upwards: Lists the oldest runs of a thread between two places.
SELECT {run}
FROM runs
WHERE thread_id = :thread_id
  AND (created_at, id) > (:above_at, :above_id) AND (created_at, id) < (:below_at, :below_id)
ORDER BY created_at, id LIMIT :limit;

-- runs_downwards: Lists the newest runs of a thread between two places, newest first.
SELECT {run}
FROM runs
WHERE thread_id = :thread_id
  AND (created_at, id) > (:above_at, :above_id) AND (created_at, id) < (:below_at, :below_id)
ORDER BY created_at DESC, id DESC LIMIT :limit;

-- count_recent_runs: Counts the runs that a thread started by itself since a time.
SELECT count(*) FROM runs
WHERE thread_id = :thread_id AND created_at > :since AND state <> 'capped'
  AND options IS NULL;

-- lapsed_runs: Finds runs that nobody holds any more and those whose callers were waited for in
-- vain, with where their threads end.
SELECT r.id, r.thread_id, r.state, r.created_at, r.attempts, r.attempts_before, r.upto_seq,
       r.asked_by, r.options, t.answered_seq, t.desk, t.last_seq, t.last_link, t.last_event
FROM runs r JOIN threads t ON t.id = r.thread_id
WHERE r.lease_until <= :now
ORDER BY r.lease_until, r.id LIMIT :limit;

-- claimable_runs: Finds runs that wait for a worker only, with where their threads end. A run that
-- is at work already keeps to the messages that it answers.
SELECT r.id, r.thread_id, r.state, r.created_at, r.attempts, r.attempts_before,
       coalesce(r.upto_seq, t.last_seq), r.asked_by, r.options,
       t.answered_seq, t.desk, t.last_seq, t.last_link, t.last_event
FROM runs r JOIN threads t ON t.id = r.thread_id
WHERE r.state = 'queued' AND r.available_at <= :now
  AND instr(:left, r.id) = 0
  AND NOT EXISTS (
      SELECT 1 FROM runs o
      WHERE o.thread_id = r.thread_id AND o.id <> r.id AND (
          o.state IN ('in_progress', 'requires_action', 'cancelling')
          OR (o.state = 'queued' AND o.attempts_before > 0)
      )
  )
ORDER BY r.available_at, r.id LIMIT :limit;

-- take_run: Gives a run to a worker.
UPDATE runs
SET state = 'in_progress', attempts = :attempt, upto_seq = :upto_seq, leased_by = :worker,
    lease_until = :lease_until, started_at = coalesce(started_at, :now)
WHERE id = :id;

-- held_run: Reads a run and where its thread ends, if the worker still holds the run.
SELECT r.id, r.thread_id, r.state, r.created_at, r.attempts, r.error, r.agent, r.options,
       r.metadata, r.usage, r.started_at, r.finished_at, r.lease_until, r.owed,
       t.last_seq, t.last_link, t.last_event
FROM runs r JOIN threads t ON t.id = r.thread_id
WHERE r.id = :id AND r.state IN ('in_progress', 'cancelling')
  AND r.leased_by = :worker AND r.attempts = :attempt;

-- renew_lease: Prolongs a lease, if the worker still holds the run.
UPDATE runs SET lease_until = :lease_until
WHERE id = :id AND state IN ('in_progress', 'cancelling')
  AND leased_by = :worker AND attempts = :attempt
RETURNING state;

-- release_all_runs: Ends every lease; the attempts count.
UPDATE runs SET leased_by = NULL, lease_until = 0
WHERE state IN ('in_progress', 'cancelling') AND lease_until IS NOT NULL
RETURNING id;

-- release_runs_of_worker: Ends a worker's leases; the attempts do not count.
UPDATE runs SET leased_by = NULL, lease_until = 0, attempts = attempts - 1
WHERE state IN ('in_progress', 'cancelling') AND lease_until IS NOT NULL
  AND leased_by = :worker
RETURNING id;

-- pause_run: Has a run wait for its caller.
UPDATE runs
SET state = 'requires_action', owed = :owed, usage = :usage, leased_by = NULL,
    lease_until = :expires_at
WHERE id = :id;

-- resume_run: Queues a run whose caller has handed in what it owed.
UPDATE runs
SET state = 'queued', owed = NULL, lease_until = NULL, available_at = :available_at,
    attempts_before = attempts
WHERE id = :id;

-- begin_cancelling: Tells a run's worker to stop.
UPDATE runs SET state = 'cancelling' WHERE id = :id;

-- end_run: Writes a run's last state.
UPDATE runs
SET state = :state, error = :error, finished_at = :finished_at, usage = coalesce(:usage, usage),
    owed = NULL, leased_by = NULL, lease_until = NULL
WHERE id = :id;

-- unfinished_runs: Lists a thread's runs that are not over.
SELECT {run}
FROM runs
WHERE thread_id = :thread_id AND finished_at IS NULL ORDER BY created_at, id;

-- empty_runs_of_thread: Drops what callers asked of a thread's runs; the runs stay.
UPDATE runs SET options = CASE WHEN options IS NULL THEN NULL ELSE '{}' END, metadata = '{}'
WHERE thread_id = :thread_id;

-- delete_steps_of_thread: Drops what was called in a thread's runs.
DELETE FROM steps WHERE run_id IN (SELECT id FROM runs WHERE thread_id = :thread_id);

-- set_asked_by: Says for whom a run is now.
UPDATE runs SET asked_by = :asked_by WHERE id = :id;

-- set_run_metadata: Replaces a run's metadata.
UPDATE runs SET metadata = :metadata WHERE id = :id;

-- replies_of_run: Lists what the desk said in a run.
SELECT id, thread_id, seq, role, actor, origin, created_at, content, attachments, metadata, run_id,
       principal
FROM messages
WHERE run_id = :run_id AND origin = 'desk' AND content IS NOT NULL ORDER BY seq;

-- add_step: Notes a step in which tools were called.
INSERT INTO steps (run_id, position, id, created_at, completed_at, text, calls, usage)
VALUES (:run_id, :position, :id, :created_at, :completed_at, :text, :calls, :usage);

-- complete_step: Notes what the calls of a step gave.
UPDATE steps SET calls = :calls, completed_at = :completed_at
WHERE run_id = :run_id AND position = :position;

-- add_giver: Notes who handed in what a run's tools gave.
INSERT INTO run_givers (run_id, principal) VALUES (:run_id, :principal) ON CONFLICT DO NOTHING;

-- steps_of_run: Lists the steps in which a run called tools.
SELECT id, run_id, position, created_at, text, calls, completed_at, usage
FROM steps WHERE run_id = :run_id ORDER BY position;

-- runs_not_over: Counts runs that wait for a worker, and those that are at work or wait for their
-- callers, by state, each up to a bound; with when the first of them was due.
SELECT state, count(*), min(available_at) FROM (
    SELECT state, available_at FROM runs
    WHERE state = 'queued' ORDER BY available_at, id LIMIT :limit
) AS waiting GROUP BY state
UNION ALL
SELECT state, count(*), min(available_at) FROM (
    SELECT state, available_at FROM runs
    WHERE lease_until IS NOT NULL LIMIT :limit
) AS held GROUP BY state;
