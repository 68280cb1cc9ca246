-- keep_process: Adds to the beats of a process.
INSERT INTO processes (id, beats, name, state, begun, figures)
VALUES (:id, 1, :name, :state, :begun, :figures)
ON CONFLICT (id) DO UPDATE
SET beats = processes.beats + 1, state = excluded.state, figures = excluded.figures;

-- processes: Lists all processes, by id; there are few.
SELECT id, beats, name, state, begun, figures FROM processes ORDER BY id;

-- release_runs_of_dead: Ends the leases of a dead process; the attempts are counted.
UPDATE runs SET leased_by = NULL, lease_until = 0
WHERE state IN ('in_progress', 'cancelling') AND lease_until IS NOT NULL AND leased_by = :process
RETURNING id;

-- release_jobs_of_dead: Ends the leases of a dead process; the jobs stay running, as their progress
-- is unknown.
UPDATE jobs SET leased_by = NULL, available_at = 0
WHERE state IN ('queued', 'at_work') AND leased_by = :process
RETURNING id;

-- release_schedules_of_dead: Ends the leases of a dead process; each has failed once.
UPDATE schedules SET lease_until = 0 WHERE leased_by = :process
RETURNING name;

-- drop_process: Deletes a process that is gone.
DELETE FROM processes WHERE id = :id;

-- take_call: Hands a running call to another process.
UPDATE calls SET held_by = :process WHERE id = :id AND state = 'started' AND held_by = :before
RETURNING id;
