-- fold_turn: Stores the first turn of a session in one row.
INSERT INTO folded_turns (thread_id, session_id, last_at, turn)
VALUES (:thread_id, :session_id, :last_at, :turn);

-- folded_turn: Reads the first turn that a thread is folded into.
SELECT session_id, turn FROM folded_turns WHERE thread_id = :thread_id;

-- folded_session: Finds the folded thread of a session.
SELECT thread_id FROM folded_turns WHERE session_id = :id;

-- drop_folded_turn: Deletes the single row of a thread that is now stored in full.
DELETE FROM folded_turns WHERE thread_id = :thread_id;

-- forget_folded_sessions: Deletes sessions of one turn, as delete_idle_sessions does.
UPDATE folded_turns SET session_id = NULL WHERE thread_id IN (
    SELECT thread_id FROM folded_turns WHERE session_id < :opened_before AND last_at < :before
    ORDER BY session_id LIMIT :limit
) RETURNING thread_id;
