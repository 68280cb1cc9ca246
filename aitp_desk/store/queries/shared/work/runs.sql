-- columns run: The columns of a run.
id, thread_id, state, created_at, attempts, error, agent, options, metadata, usage, started_at,
finished_at, lease_until, owed;

-- add_run: Queues a run, or stores one that is capped.
INSERT INTO runs (
    id, thread_id, state, created_at, available_at, attempts, finished_at, asked_by,
    started_by, agent, options, metadata
) VALUES (
    :id, :thread_id, :state, :created_at, :created_at, 0, :finished_at, :asked_by,
    :started_by, :agent, :options, :metadata
);

-- run: Reads a run, and its principal.
SELECT id, thread_id, state, created_at, attempts, error, agent, options, metadata, usage,
       started_at, finished_at, lease_until, owed, asked_by
FROM runs WHERE id = :id;

-- waiting_run: Finds the run that waits on a thread and was never claimed.
SELECT id, thread_id, state, created_at, attempts, error, agent, options, metadata, usage,
       started_at, finished_at, lease_until, owed, asked_by
FROM runs
WHERE thread_id = :thread_id AND state = 'queued' AND attempts_before = 0;

-- run_at_work: Finds the run that is running on a thread, or waits for its caller.
SELECT {run}
FROM runs
WHERE thread_id = :thread_id AND (
    state IN ('in_progress', 'requires_action', 'cancelling')
    OR (state = 'queued' AND attempts_before > 0)
);

-- newest_run: Finds a thread's newest run; within one second a capped one counts as the newest.
SELECT {run}
FROM runs
WHERE thread_id = :thread_id
ORDER BY created_at DESC, state = 'capped' DESC, id DESC LIMIT 1;

-- runs_upwards: Lists the oldest runs of a thread between two positions.
SELECT {run}
FROM runs
WHERE thread_id = :thread_id
  AND (created_at, id) > (:above_at, :above_id) AND (created_at, id) < (:below_at, :below_id)
ORDER BY created_at, id LIMIT :limit;

-- runs_downwards: Lists the newest runs of a thread between two positions, newest first.
SELECT {run}
FROM runs
WHERE thread_id = :thread_id
  AND (created_at, id) > (:above_at, :above_id) AND (created_at, id) < (:below_at, :below_id)
ORDER BY created_at DESC, id DESC LIMIT :limit;

-- count_recent_runs: Counts the automatic runs of a thread since a time.
SELECT count(*) FROM runs
WHERE thread_id = :thread_id AND created_at > :since AND state <> 'capped'
  AND options IS NULL;

-- lapsed_runs: Finds runs whose lease has expired and those whose callers did not respond in time,
-- with where their threads end.
SELECT r.id, r.thread_id, r.state, r.created_at, r.attempts, r.attempts_before, r.upto_seq,
       r.asked_by, r.options, t.answered_seq, t.desk, t.last_seq, t.last_link, t.last_event
FROM runs r JOIN threads t ON t.id = r.thread_id
WHERE r.lease_until <= :now
ORDER BY r.lease_until, r.id LIMIT :limit;

-- claimable_runs: Finds runs that wait only for a worker, with where their threads end. A run that
-- has started keeps the messages that it answers.
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

-- take_run: Claims a run for a worker.
UPDATE runs
SET state = 'in_progress', attempts = :attempt, upto_seq = :upto_seq, leased_by = :worker,
    lease_until = :lease_until, started_at = coalesce(started_at, :now)
WHERE id = :id AND thread_id = :thread_id;

-- held_run: Reads a run and where its thread ends, if the worker still holds the run.
SELECT r.id, r.thread_id, r.state, r.created_at, r.attempts, r.error, r.agent, r.options,
       r.metadata, r.usage, r.started_at, r.finished_at, r.lease_until, r.owed,
       t.last_seq, t.last_link, t.last_event
FROM runs r JOIN threads t ON t.id = r.thread_id
WHERE r.id = :id AND r.thread_id = :thread_id AND r.state IN ('in_progress', 'cancelling')
  AND r.leased_by = :worker AND r.attempts = :attempt;

-- renew_lease: Renews a lease, if the worker still holds the run.
UPDATE runs SET lease_until = :lease_until
WHERE id = :id AND thread_id = :thread_id AND state IN ('in_progress', 'cancelling')
  AND leased_by = :worker AND attempts = :attempt
RETURNING state;

-- release_all_runs: Ends every lease; the attempts are counted.
UPDATE runs SET leased_by = NULL, lease_until = 0
WHERE state IN ('in_progress', 'cancelling') AND lease_until IS NOT NULL
RETURNING id;

-- release_runs_of_worker: Ends a worker's leases; the attempts are not counted.
UPDATE runs SET leased_by = NULL, lease_until = 0, attempts = attempts - 1
WHERE state IN ('in_progress', 'cancelling') AND lease_until IS NOT NULL
  AND leased_by = :worker
RETURNING id;

-- pause_run: Pauses a run until its caller responds.
UPDATE runs
SET state = 'requires_action', owed = :owed, usage = :usage, leased_by = NULL,
    lease_until = :expires_at
WHERE id = :id AND thread_id = :thread_id;

-- resume_run: Queues a run whose caller has submitted its results.
UPDATE runs
SET state = 'queued', owed = NULL, lease_until = NULL, available_at = :available_at,
    attempts_before = attempts
WHERE id = :id AND thread_id = :thread_id;

-- begin_cancelling: Requests that a run's worker stop.
UPDATE runs SET state = 'cancelling' WHERE id = :id AND thread_id = :thread_id;

-- end_run: Stores the final state of a run.
UPDATE runs
SET state = :state, error = :error, finished_at = :finished_at, usage = coalesce(:usage, usage),
    owed = NULL, leased_by = NULL, lease_until = NULL
WHERE id = :id AND thread_id = :thread_id;

-- unfinished_runs: Lists a thread's runs that are not over.
SELECT {run}
FROM runs
WHERE thread_id = :thread_id AND finished_at IS NULL ORDER BY created_at, id;

-- empty_runs_of_thread: Deletes the requests of a thread's runs; the runs stay.
UPDATE runs SET options = CASE WHEN options IS NULL THEN NULL ELSE '{}' END, metadata = '{}'
WHERE thread_id = :thread_id;

-- empty_run: Deletes the request of a run; the run stays.
UPDATE runs SET options = CASE WHEN options IS NULL THEN NULL ELSE '{}' END, metadata = '{}'
WHERE id = :run_id;

-- delete_steps_of_run: Deletes the steps of a run.
DELETE FROM steps WHERE run_id = :run_id;

-- input_of_run: Lists the messages that came with the request of a run.
SELECT id, thread_id, seq, role, actor, origin, created_at, content, attachments, metadata, run_id,
       principal
FROM messages
WHERE thread_id = :thread_id AND origin = 'visitor' AND content IS NOT NULL
  AND (run_id IS NULL OR run_id = :run_id)
  AND seq <= (SELECT MAX(seq) FROM messages WHERE run_id = :run_id AND origin = 'visitor')
  AND seq > COALESCE((
    SELECT MAX(seq) FROM messages
    WHERE thread_id = :thread_id AND (origin = 'desk' OR run_id <> :run_id)
      AND seq < (SELECT MAX(seq) FROM messages WHERE run_id = :run_id AND origin = 'visitor')
  ), 0)
  AND created_at = (
    SELECT MAX(created_at) FROM messages WHERE run_id = :run_id AND origin = 'visitor'
  )
ORDER BY seq;

-- withdrawn_input_of_run: Returns a row if the question of a run was deleted.
SELECT 1 FROM messages
WHERE thread_id = :thread_id AND run_id = :run_id AND origin = 'visitor' AND content IS NULL
LIMIT 1;

-- delete_steps_of_thread: Deletes the steps of a thread's runs.
DELETE FROM steps WHERE run_id IN (SELECT id FROM runs WHERE thread_id = :thread_id);

-- set_asked_by: Sets the principal of a run.
UPDATE runs SET asked_by = :asked_by WHERE id = :id AND thread_id = :thread_id;

-- set_run_metadata: Replaces a run's metadata.
UPDATE runs SET metadata = :metadata WHERE id = :id AND thread_id = :thread_id;

-- replies_of_run: Lists the desk's messages of a run.
SELECT id, thread_id, seq, role, actor, origin, created_at, content, attachments, metadata, run_id,
       principal
FROM messages
WHERE run_id = :run_id AND origin = 'desk' AND content IS NOT NULL ORDER BY seq;

-- add_step: Inserts a step in which tools were called.
INSERT INTO steps (run_id, position, id, created_at, completed_at, text, calls, usage)
VALUES (:run_id, :position, :id, :created_at, :completed_at, :text, :calls, :usage);

-- complete_step: Stores the results of a step's calls.
UPDATE steps SET calls = :calls, completed_at = :completed_at
WHERE run_id = :run_id AND position = :position;

-- add_giver: Stores who submitted the results of a run's tools.
INSERT INTO run_givers (run_id, principal) VALUES (:run_id, :principal) ON CONFLICT DO NOTHING;

-- steps_of_run: Lists the steps in which a run called tools.
SELECT id, run_id, position, created_at, text, calls, completed_at, usage
FROM steps WHERE run_id = :run_id ORDER BY position;

-- runs_not_over: Counts unfinished runs by state, each up to a bound, with when the first was due.
SELECT state, count(*), min(available_at) FROM (
    SELECT state, available_at FROM runs
    WHERE state = 'queued' ORDER BY available_at, id LIMIT :limit
) AS waiting GROUP BY state
UNION ALL
SELECT state, count(*), min(available_at) FROM (
    SELECT state, available_at FROM runs
    WHERE lease_until IS NOT NULL LIMIT :limit
) AS held GROUP BY state;
