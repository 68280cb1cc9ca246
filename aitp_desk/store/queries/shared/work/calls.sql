-- columns call: Of a call, as it is read.
id, desk, action, state, asked_by, source, created_at, expires_at, arguments, thread_id,
session_id, memory, intent, price, callback_url, progress, result, text, effects, error, ended_at,
run_id, tool_call_id, accepted_at, answer, payment;

-- add_call: Writes down a call of an action.
INSERT INTO calls (
    id, desk, action, state, thread_id, session_id, principal, asked_by, source, arguments, memory,
    intent, price, callback_url, progress, result, text, effects, error, created_at, expires_at,
    ended_at, run_id, tool_call_id, accepted_at, answer, payment, quote_id
) VALUES (
    :id, :desk, :action, :state, :thread_id, :session_id, :principal, :asked_by, :source,
    :arguments, :memory, :intent, :price, :callback_url, :progress, :result, :text, :effects, :error,
    :created_at, :expires_at, :ended_at, :run_id, :tool_call_id, :accepted_at, :answer, :payment,
    :quote_id
);

-- move_call: Writes down how a call stands, where it still stands as it did.
UPDATE calls
SET state = :state, source = :source, arguments = :arguments, memory = :memory,
    intent = :intent, price = :price, callback_url = :callback_url, progress = :progress, result = :result, text = :text,
    effects = :effects, error = :error, expires_at = :expires_at, ended_at = :ended_at,
    run_id = :run_id, tool_call_id = :tool_call_id, accepted_at = :accepted_at, answer = :answer,
    payment = :payment, quote_id = :quote_id
WHERE id = :id AND state = :before
RETURNING id;

-- call: Finds a call.
SELECT {call}
FROM calls WHERE id = :id;

-- call_of_session: Finds the newest call of a session that goes on after it was accepted.
SELECT {call}
FROM calls WHERE session_id = :session_id AND accepted_at IS NOT NULL
ORDER BY created_at DESC, id DESC LIMIT 1;

-- calls_cut_short: Lists calls that were at work when the desk stopped, but for those that go on by
-- themselves.
SELECT {call}
FROM calls
WHERE state = 'started' AND desk = :desk AND accepted_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM tickets WHERE call_id = calls.id)
ORDER BY created_at, id LIMIT :limit;

-- call_seconds: Says how long the latest calls of an action took that succeeded.
SELECT ended_at - accepted_at FROM calls
WHERE desk = :desk AND action = :action AND state = 'succeeded' AND accepted_at IS NOT NULL
ORDER BY accepted_at DESC LIMIT :limit;

-- calls_of_run: Lists what a run has called, in order.
SELECT {call}
FROM calls WHERE run_id = :run_id ORDER BY created_at, id;

-- call_quoted: Finds the newest call for which something is paid by this name.
SELECT {call}
FROM calls WHERE quote_id = :quote_id ORDER BY created_at DESC, id DESC LIMIT 1;

-- answer_call: Notes what was answered to what a call waits for, once.
UPDATE calls SET answer = :answer
WHERE id = :id AND state IN ('waiting_input', 'waiting_payment') AND answer IS NULL
RETURNING id;

-- answered_calls: Lists the calls on a thread that were answered and have not gone on, in order.
SELECT {call}
FROM calls WHERE thread_id = :thread_id AND answer IS NOT NULL ORDER BY created_at, id;

-- calls_to_pay: Lists the newest calls on a thread that wait for money, or were paid since some time.
SELECT {call}
FROM calls WHERE thread_id = :thread_id AND payment IS NOT NULL
    AND (state = 'waiting_payment' OR accepted_at >= :since)
ORDER BY created_at DESC, id DESC LIMIT :limit;

-- forget_answer: Takes note that what was answered has been heard.
UPDATE calls SET answer = NULL WHERE id = :id AND answer IS NOT NULL;

-- set_call_progress: Says how far a call is.
UPDATE calls SET progress = :progress WHERE id = :id AND state = 'started' RETURNING id;

-- tell_unknown_call: Says what became of a call of which nobody knew.
UPDATE calls SET error = :error WHERE id = :id AND state = 'unknown';

-- expire_waiting_calls: Ends calls that have waited too long for what they still needed; what was read
-- so far and not used is dropped.
UPDATE calls
SET state = 'expired', memory = NULL, error = :error, ended_at = :now
WHERE id IN (
    SELECT id FROM calls WHERE state = 'waiting_input' AND expires_at < :now
    ORDER BY expires_at LIMIT :limit
)
RETURNING id;

-- expire_unpaid_calls: Ends calls that were not paid in time; what was begun to be paid before may
-- have settled a while later.
UPDATE calls
SET state = 'expired', error = :error, ended_at = :now
WHERE id IN (
    SELECT id FROM calls WHERE state = 'waiting_payment' AND expires_at < :before
    ORDER BY expires_at LIMIT :limit
)
RETURNING id;

-- quote_call: Notes by what name a call is paid, and until when that can be done.
UPDATE calls SET payment = :payment, quote_id = :quote_id, expires_at = :expires_at
WHERE id = :id AND state = 'waiting_payment'
RETURNING id;

-- unbegun_paid_calls_on_thread: Lists calls that were paid, and of which nothing was carried out yet:
-- those of somebody on a thread, and all there since a time.
SELECT {call}
FROM calls
WHERE thread_id = :thread_id AND (created_at >= :since OR principal = :whose)
  AND payment IS NOT NULL
  AND (state = 'waiting_approval' OR (state = 'started' AND EXISTS (
    SELECT 1 FROM jobs
    WHERE kind IN ('call', 'paid_call') AND ref = calls.id AND state = 'queued' AND attempts = 0
  )));

-- unbegun_paid_calls_of: The same for all calls of somebody, or those on the one thread that is named.
SELECT {call}
FROM calls
WHERE principal = :whose AND (:thread_id = '' OR thread_id = :thread_id)
  AND payment IS NOT NULL
  AND (state = 'waiting_approval' OR (state = 'started' AND EXISTS (
    SELECT 1 FROM jobs
    WHERE kind IN ('call', 'paid_call') AND ref = calls.id AND state = 'queued' AND attempts = 0
  )));

-- paid_calls_at_work_on_thread: Lists calls that were paid, and of which something may have been done,
-- those of somebody on a thread, and all there since a time.
SELECT {call}
FROM calls
WHERE thread_id = :thread_id AND (created_at >= :since OR principal = :whose)
  AND payment IS NOT NULL AND state = 'started' AND NOT EXISTS (
    SELECT 1 FROM jobs
    WHERE kind IN ('call', 'paid_call') AND ref = calls.id AND state = 'queued' AND attempts = 0
  );

-- paid_calls_at_work_of: The same for all calls of somebody, or those on the one thread that is named.
SELECT {call}
FROM calls
WHERE principal = :whose AND (:thread_id = '' OR thread_id = :thread_id)
  AND payment IS NOT NULL AND state = 'started' AND NOT EXISTS (
    SELECT 1 FROM jobs
    WHERE kind IN ('call', 'paid_call') AND ref = calls.id AND state = 'queued' AND attempts = 0
  );

-- leave_call_at_work: Ends a call that is at work, so that nobody hears what became of it.
UPDATE calls SET state = 'unknown', ended_at = :now WHERE id = :id AND state = 'started';

-- erase_calls_on_thread: Drops what calls on a thread were about, those of somebody and all since a
-- time, and ends those under way; that they were made stays. Returns those that were not empty.
UPDATE calls
SET asked_by = NULL, principal = NULL, session_id = NULL, arguments = '{}', memory = NULL,
    answer = NULL, intent = NULL, progress = '', callback_url = NULL, result = 'null', text = '', effects = '[]',
    error = NULL,
    state = CASE WHEN ended_at IS NULL AND state NOT IN ('failed', 'expired', 'unknown')
        THEN 'failed' ELSE state END
WHERE thread_id = :thread_id AND (created_at >= :since OR principal = :whose)
  AND (coalesce(principal, session_id, memory, answer, intent, callback_url, error) IS NOT NULL
       OR (arguments, progress, result, text, effects) <> ('{}', '', 'null', '', '[]')
       OR (ended_at IS NULL AND state NOT IN ('failed', 'expired', 'unknown')))
RETURNING id;

-- erase_own_calls: The same for all calls of somebody, or those on the one thread that is named.
UPDATE calls
SET asked_by = NULL, principal = NULL, session_id = NULL, arguments = '{}', memory = NULL,
    answer = NULL, intent = NULL, progress = '', callback_url = NULL, result = 'null', text = '', effects = '[]',
    error = NULL,
    state = CASE WHEN ended_at IS NULL AND state NOT IN ('failed', 'expired', 'unknown')
        THEN 'failed' ELSE state END
WHERE principal = :whose AND (:thread_id = '' OR thread_id = :thread_id)
RETURNING id;
