-- begin_queued_jobs: Marks queued jobs of a kind as attempted once.
UPDATE jobs SET attempts = 1 WHERE kind = :kind AND state = 'queued' AND attempts = 0;

-- end_waiting_calls: Expires calls that wait for their caller.
UPDATE calls SET expires_at = CASE state WHEN 'waiting_input' THEN :now - 1 ELSE 0 END
WHERE state IN ('waiting_input', 'waiting_payment') AND expires_at >= :now;

-- add_to_open_notes: Puts text before the notes of open tickets.
UPDATE tickets SET note = substr(:words || note, 1, :most) WHERE state IN ('open', 'taken');

-- next_unfinished_run: Finds the next run that is not over, with where its thread ends.
SELECT r.id, r.thread_id, t.last_seq, t.last_link, t.last_event
FROM runs r JOIN threads t ON t.id = r.thread_id
WHERE r.id > :after AND r.state IN ('queued', 'in_progress', 'requires_action', 'cancelling')
ORDER BY r.id LIMIT 1;
