-- columns call: The columns of a call.
id, desk, action, state, asked_by, source, created_at, expires_at, arguments, thread_id,
session_id, memory, intent, price, callback_url, progress, result, text, effects, error, ended_at,
run_id, tool_call_id, accepted_at, answer, payment, held_by, spent;

-- add_call: Inserts a call of an action.
INSERT INTO calls (
    id, desk, action, state, thread_id, session_id, principal, asked_by, source, arguments, memory,
    intent, price, callback_url, progress, result, text, effects, error, created_at, expires_at,
    ended_at, run_id, tool_call_id, accepted_at, answer, payment, quote_id, held_by, spent
) VALUES (
    :id, :desk, :action, :state, :thread_id, :session_id, :principal, :asked_by, :source,
    :arguments, :memory, :intent, :price, :callback_url, :progress, :result, :text, :effects, :error,
    :created_at, :expires_at, :ended_at, :run_id, :tool_call_id, :accepted_at, :answer, :payment,
    :quote_id, :held_by, :spent
);

-- move_call: Updates the state of a call, if it is still in the expected state.
UPDATE calls
SET state = :state, source = :source, arguments = :arguments, memory = :memory,
    intent = :intent, price = :price, callback_url = :callback_url, progress = :progress, result = :result, text = :text,
    effects = :effects, error = :error, expires_at = :expires_at, ended_at = :ended_at,
    run_id = :run_id, tool_call_id = :tool_call_id, accepted_at = :accepted_at, answer = :answer,
    payment = :payment, quote_id = :quote_id, held_by = :held_by, spent = :spent
WHERE id = :id AND state = :before
RETURNING id;

-- call: Finds a call.
SELECT {call}
FROM calls WHERE id = :id;

-- calls_since: Lists calls since a time in the order of their ids.
SELECT {call}
FROM calls WHERE id > :after AND created_at >= :since ORDER BY id LIMIT :limit;

-- call_of_session: Finds the newest call of a session that continues after it was accepted.
SELECT {call}
FROM calls WHERE session_id = :session_id AND accepted_at IS NOT NULL
ORDER BY created_at DESC, id DESC LIMIT 1;

-- calls_cut_short: Lists calls that were running when the desk stopped, except those that continue
-- in the background.
SELECT {call}
FROM calls
WHERE state = 'started' AND desk = :desk AND accepted_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM tickets WHERE call_id = calls.id)
ORDER BY created_at, id LIMIT :limit;

-- calls_held: Lists calls that processes carry out, except those that continue in the background, or
-- in a run that goes on.
SELECT {call}
FROM calls
WHERE state = 'started' AND desk = :desk AND accepted_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM tickets WHERE call_id = calls.id)
    AND NOT EXISTS (
        SELECT 1 FROM runs WHERE runs.id = calls.run_id AND runs.state IN ('queued', 'in_progress')
    )
ORDER BY created_at, id LIMIT :limit;

-- call_seconds: Reads how long the latest successful calls of an action took.
SELECT ended_at - accepted_at FROM calls
WHERE desk = :desk AND action = :action AND state = 'succeeded' AND accepted_at IS NOT NULL
ORDER BY accepted_at DESC LIMIT :limit;

-- calls_of_run: Lists the calls of a run, in order.
SELECT {call}
FROM calls WHERE run_id = :run_id ORDER BY created_at, id;

-- call_quoted: Finds the newest call that is paid under a quote id.
SELECT {call}
FROM calls WHERE quote_id = :quote_id ORDER BY created_at DESC, id DESC LIMIT 1;

-- answer_call: Stores the answer to what a call waits for, once.
UPDATE calls SET answer = :answer
WHERE id = :id AND state IN ('waiting_input', 'waiting_payment') AND answer IS NULL
RETURNING id;

-- answered_calls: Lists the calls on a thread that were answered and have not resumed, in order.
SELECT {call}
FROM calls WHERE thread_id = :thread_id AND answer IS NOT NULL ORDER BY created_at, id;

-- calls_on_thread: Lists the newest calls on a thread that are older than a position.
SELECT {call}
FROM calls WHERE thread_id = :thread_id AND (created_at, id) < (:before_at, :before_id)
ORDER BY created_at DESC, id DESC LIMIT :limit;

-- calls_to_pay: Lists the newest calls on a thread that wait for money, or were paid since a time.
SELECT {call}
FROM calls WHERE thread_id = :thread_id AND payment IS NOT NULL
    AND (state = 'waiting_payment' OR accepted_at >= :since)
ORDER BY created_at DESC, id DESC LIMIT :limit;

-- forget_answer: Clears the answer of a call once it has been processed.
UPDATE calls SET answer = NULL WHERE id = :id AND answer IS NOT NULL;

-- set_call_progress: Updates the progress of a call.
UPDATE calls SET progress = :progress WHERE id = :id AND state = 'started' RETURNING id;

-- tell_unknown_call: Sets the outcome of a call whose outcome was unknown.
UPDATE calls SET error = :error WHERE id = :id AND state = 'unknown';

-- expire_waiting_calls: Expires calls that waited too long for input; unused values read so far are
-- deleted.
UPDATE calls
SET state = 'expired', memory = NULL, error = :error, ended_at = :now
WHERE id IN (
    SELECT id FROM calls WHERE state = 'waiting_input' AND expires_at < :now
    ORDER BY expires_at LIMIT :limit
)
RETURNING id;

-- expire_unpaid_calls: Expires calls that were not paid in time; a payment that was started before
-- may still settle for a while.
UPDATE calls
SET state = 'expired', error = :error, ended_at = :now
WHERE id IN (
    SELECT id FROM calls WHERE state = 'waiting_payment' AND expires_at < :before
    ORDER BY expires_at LIMIT :limit
)
RETURNING id;

-- quote_call: Stores the quote id of a call, and until when it can be paid.
UPDATE calls SET payment = :payment, quote_id = :quote_id, expires_at = :expires_at
WHERE id = :id AND state = 'waiting_payment'
RETURNING id;

-- unbegun_paid_calls_on_thread: Lists paid calls that have not started: those of a principal on a
-- thread, and all there since a time.
SELECT {call}
FROM calls
WHERE thread_id = :thread_id AND (created_at >= :since OR principal = :whose)
  AND payment IS NOT NULL
  AND (state = 'waiting_approval' OR (state = 'started' AND EXISTS (
    SELECT 1 FROM jobs
    WHERE kind IN ('call', 'paid_call') AND ref = calls.id AND state = 'queued' AND attempts = 0
  )));

-- unbegun_paid_calls_of: Lists paid calls of a principal that have not started: all, or those on
-- one thread.
SELECT {call}
FROM calls
WHERE principal = :whose AND (:thread_id = '' OR thread_id = :thread_id)
  AND payment IS NOT NULL
  AND (state = 'waiting_approval' OR (state = 'started' AND EXISTS (
    SELECT 1 FROM jobs
    WHERE kind IN ('call', 'paid_call') AND ref = calls.id AND state = 'queued' AND attempts = 0
  )));

-- paid_calls_at_work_on_thread: Lists paid calls that may have had effects: those of a principal on
-- a thread, and all there since a time.
SELECT {call}
FROM calls
WHERE thread_id = :thread_id AND (created_at >= :since OR principal = :whose)
  AND payment IS NOT NULL AND state = 'started' AND NOT EXISTS (
    SELECT 1 FROM jobs
    WHERE kind IN ('call', 'paid_call') AND ref = calls.id AND state = 'queued' AND attempts = 0
  );

-- paid_calls_at_work_of: Lists paid calls of a principal that may have had effects: all, or those
-- on one thread.
SELECT {call}
FROM calls
WHERE principal = :whose AND (:thread_id = '' OR thread_id = :thread_id)
  AND payment IS NOT NULL AND state = 'started' AND NOT EXISTS (
    SELECT 1 FROM jobs
    WHERE kind IN ('call', 'paid_call') AND ref = calls.id AND state = 'queued' AND attempts = 0
  );

-- leave_call_at_work: Ends a running call, so that its outcome is not reported.
UPDATE calls SET state = 'unknown', ended_at = :now WHERE id = :id AND state = 'started';

-- rows theirs_on_thread: Those of a person on a thread: a principal's, and all since a time.
thread_id = :thread_id AND (created_at >= :since OR principal = :whose);

-- erase_calls_on_thread: Deletes the content of calls on a thread, those of a principal and all
-- since a time, and ends running ones; their rows stay. Returns those that had content.
UPDATE calls
SET asked_by = NULL, principal = NULL, session_id = NULL, arguments = '{}', memory = NULL,
    answer = NULL, intent = NULL, progress = '', callback_url = NULL, result = 'null', text = '', effects = '[]',
    error = NULL,
    state = CASE WHEN ended_at IS NULL AND state NOT IN ('failed', 'expired', 'unknown')
        THEN 'failed' ELSE state END
WHERE {theirs_on_thread}
  AND (coalesce(principal, session_id, memory, answer, intent, callback_url, error) IS NOT NULL
       OR (arguments, progress, result, text, effects) <> ('{}', '', 'null', '', '[]')
       OR (ended_at IS NULL AND state NOT IN ('failed', 'expired', 'unknown')))
RETURNING id;

-- rows theirs: Those of a principal, on all threads and none, or on one.
principal = :whose AND (:thread_id = '' OR thread_id = :thread_id);

-- erase_own_calls: Does the same for all calls of a principal, or those on one thread.
UPDATE calls
SET asked_by = NULL, principal = NULL, session_id = NULL, arguments = '{}', memory = NULL,
    answer = NULL, intent = NULL, progress = '', callback_url = NULL, result = 'null', text = '', effects = '[]',
    error = NULL,
    state = CASE WHEN ended_at IS NULL AND state NOT IN ('failed', 'expired', 'unknown')
        THEN 'failed' ELSE state END
WHERE {theirs}
RETURNING id;

-- personal_calls_on_thread: Lists calls whose content an erasure of a person deletes on a thread.
SELECT id, principal, thread_id, action, state, source, intent, arguments, memory, answer, price,
    payment, quote_id, callback_url, progress, result, text, effects, error, created_at, ended_at
FROM calls WHERE {theirs_on_thread} AND id > :after ORDER BY id LIMIT :limit;

-- personal_calls: Lists calls whose content an erasure of a principal deletes.
SELECT id, principal, thread_id, action, state, source, intent, arguments, memory, answer, price,
    payment, quote_id, callback_url, progress, result, text, effects, error, created_at, ended_at
FROM calls WHERE {theirs} AND id > :after ORDER BY id LIMIT :limit;
