-- add_schedule: Writes down what is done again and again; what is known of it stays.
INSERT INTO schedules (
    name, every, due_at, runs, failures, leased_by, lease_until, began_at, ended_at, done_at, did,
    last_error
) VALUES (:name, :every, 0, 0, 0, NULL, 0, NULL, NULL, NULL, 0, NULL)
ON CONFLICT (name) DO UPDATE SET every = excluded.every;

-- schedules: Lists what is done again and again; they are few.
SELECT name, every, due_at, runs, failures, leased_by, lease_until, began_at, ended_at, done_at, did,
    last_error
FROM schedules ORDER BY name;

-- schedule: Finds one.
SELECT name, every, due_at, runs, failures, leased_by, lease_until, began_at, ended_at, done_at, did,
    last_error
FROM schedules WHERE name = :name;

-- drop_schedule: Forgets one that is not done any more.
DELETE FROM schedules WHERE name = :name;

-- take_schedule: Gives one to a process.
UPDATE schedules
SET runs = runs + 1, failures = :failures, leased_by = :worker, lease_until = :lease_until,
    began_at = :now
WHERE name = :name;

-- renew_schedule: Prolongs a lease, if the process is still at it.
UPDATE schedules SET lease_until = :lease_until
WHERE name = :name AND leased_by = :worker AND runs = :run
RETURNING name;

-- end_schedule_well: Notes that a run ended well, if the process is still at it.
UPDATE schedules
SET leased_by = NULL, due_at = :now + every, failures = 0, ended_at = :now, done_at = :now,
    did = :did, last_error = NULL
WHERE name = :name AND leased_by = :worker AND runs = :run
RETURNING name;

-- end_schedule_badly: Notes that a run failed, if the process is still at it.
UPDATE schedules
SET leased_by = NULL, due_at = :due_at, failures = failures + 1, ended_at = :now,
    last_error = :error
WHERE name = :name AND leased_by = :worker AND runs = :run
RETURNING name;

-- release_schedule: Lets go of one that a process is at; it is due as it was.
UPDATE schedules SET leased_by = NULL WHERE name = :name AND leased_by = :worker;

-- hasten_schedule: Has one begun at once.
UPDATE schedules SET due_at = 0 WHERE name = :name;
