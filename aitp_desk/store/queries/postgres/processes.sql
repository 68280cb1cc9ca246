-- keep_process: Adds to the beats of a process, without waiting for a disk.
INSERT INTO processes (id, beats, name, state, begun, figures)
SELECT :id, 1, :name, :state, :begun::bigint, :figures
WHERE set_config('synchronous_commit', 'off', true) = 'off'
ON CONFLICT (id) DO UPDATE
SET beats = processes.beats + 1, state = excluded.state, figures = excluded.figures;
