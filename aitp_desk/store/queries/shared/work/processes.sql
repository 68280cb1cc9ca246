-- keep_process: Adds to the beats of a process.
INSERT INTO processes (id, beats) VALUES (:id, 1)
ON CONFLICT (id) DO UPDATE SET beats = processes.beats + 1;

-- processes: Lists all processes; there are few.
SELECT id, beats FROM processes;

-- drop_process: Deletes a process that is gone.
DELETE FROM processes WHERE id = :id;

-- take_call: Hands a running call to another process.
UPDATE calls SET held_by = :process WHERE id = :id AND state = 'started' AND held_by = :before
RETURNING id;
