-- add_schedule: Inserts a schedule; an existing row keeps its state.
INSERT INTO schedules (
    name, every, due_at, runs, failures, leased_by, lease_until, began_at, ended_at, done_at, did,
    last_error
) VALUES (:name, :every, 0, 0, 0, NULL, 0, NULL, NULL, NULL, 0, NULL)
ON CONFLICT (name) DO UPDATE SET every = excluded.every;

-- schedules: Lists all schedules; there are few.
SELECT name, every, due_at, runs, failures, leased_by, lease_until, began_at, ended_at, done_at, did,
    last_error
FROM schedules ORDER BY name;

-- schedule: Finds a schedule.
SELECT name, every, due_at, runs, failures, leased_by, lease_until, began_at, ended_at, done_at, did,
    last_error
FROM schedules WHERE name = :name;

-- drop_schedule: Deletes a schedule that is no longer used.
DELETE FROM schedules WHERE name = :name;

-- take_schedule: Claims a schedule for a process.
UPDATE schedules
SET runs = runs + 1, failures = :failures, leased_by = :worker, lease_until = :lease_until,
    began_at = :now
WHERE name = :name;

-- renew_schedule: Prolongs a lease, if the process still holds the schedule.
UPDATE schedules SET lease_until = :lease_until
WHERE name = :name AND leased_by = :worker AND runs = :run
RETURNING name;

-- end_schedule_well: Stores that an execution succeeded, if the process still holds the schedule.
UPDATE schedules
SET leased_by = NULL, due_at = :now + every, failures = 0, ended_at = :now, done_at = :now,
    did = :did, last_error = NULL
WHERE name = :name AND leased_by = :worker AND runs = :run
RETURNING name;

-- end_schedule_badly: Stores that an execution failed, if the process still holds the schedule.
UPDATE schedules
SET leased_by = NULL, due_at = :due_at, failures = failures + 1, ended_at = :now,
    last_error = :error
WHERE name = :name AND leased_by = :worker AND runs = :run
RETURNING name;

-- release_schedule: Releases a schedule that a process holds; its due time is unchanged.
UPDATE schedules SET leased_by = NULL WHERE name = :name AND leased_by = :worker;

-- free_schedule: Releases a schedule that a dead process holds.
UPDATE schedules SET leased_by = NULL WHERE name = :name;

-- hasten_schedule: Makes a schedule due at once.
UPDATE schedules SET due_at = 0 WHERE name = :name;
