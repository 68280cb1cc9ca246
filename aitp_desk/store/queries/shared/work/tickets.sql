-- columns ticket: The columns of a ticket.
id, desk, kind, state, about, created_at, note, thread_id, call_id, principal, due_at, answer,
ended_by, ended_at, taken_by, asked_from, contact;

-- add_ticket: Inserts a ticket; does nothing if its call has one of its kind.
INSERT INTO tickets (
    id, desk, kind, state, about, note, thread_id, call_id, principal, created_at, due_at, answer,
    ended_by, ended_at, taken_by, asked_from, contact
) VALUES (
    :id, :desk, :kind, :state, :about, :note, :thread_id, :call_id, :principal, :created_at, :due_at,
    :answer, :ended_by, :ended_at, :taken_by, :asked_from, :contact
) ON CONFLICT DO NOTHING;

-- move_ticket: Updates the state of a ticket.
UPDATE tickets
SET state = :state, answer = :answer, ended_by = :ended_by, ended_at = :ended_at,
    taken_by = :taken_by, asked_from = :asked_from
WHERE id = :id;

-- ticket: Finds a ticket.
SELECT {ticket}
FROM tickets WHERE id = :id;

-- tickets_after: Lists the oldest tickets after one.
SELECT {ticket}
FROM tickets WHERE id > :after ORDER BY id LIMIT :limit;

-- open_tickets_after: Lists the oldest tickets after one that wait for a person.
SELECT {ticket}
FROM tickets WHERE state IN ('open', 'taken') AND id > :after ORDER BY id LIMIT :limit;

-- due_tickets: Lists tickets whose waiting time is over.
SELECT id FROM tickets
WHERE state IN ('open', 'taken') AND due_at IS NOT NULL AND due_at <= :now ORDER BY due_at LIMIT :limit;

-- other_taken_ticket: Finds another ticket of a thread that an operator has taken.
SELECT id FROM tickets WHERE thread_id = :thread_id AND state = 'taken' AND id <> :id LIMIT 1;

-- asked_for_ticket: Finds the ticket of a thread's visitor that waits for a person.
SELECT id FROM tickets
WHERE thread_id = :thread_id AND kind IN ('request', 'question') AND state IN ('open', 'taken');

-- set_ticket_contact: Stores where the author of a ticket wants the answer too.
UPDATE tickets SET contact = :contact WHERE id = :id;

-- count_asked_from: Counts the waiting tickets that one caller requested.
SELECT count(*) FROM tickets WHERE asked_from = :asked_from AND state IN ('open', 'taken');

-- rows theirs_on_thread: Those of a person on a thread: a principal's, and all since a time.
thread_id = :thread_id AND (created_at >= :since OR principal = :whose);

-- erase_tickets_on_thread: Deletes the content of tickets of a thread, those of a principal and all
-- since a time, and closes open ones.
UPDATE tickets
SET about = '', note = '', principal = NULL, answer = '', asked_from = NULL, contact = '',
    state = CASE WHEN state IN ('open', 'taken') THEN 'closed' ELSE state END
WHERE {theirs_on_thread}
RETURNING id;

-- rows theirs: Those of a principal, on all threads and none, or on one.
principal = :whose AND (:thread_id = '' OR thread_id = :thread_id);

-- erase_own_tickets: Does the same for all tickets of a principal, or those on one thread.
UPDATE tickets
SET about = '', note = '', principal = NULL, answer = '', asked_from = NULL, contact = '',
    state = CASE WHEN state IN ('open', 'taken') THEN 'closed' ELSE state END
WHERE {theirs};

-- waiting_tickets_of_thread: Lists the tickets of a thread that wait for a person, the oldest first.
SELECT {ticket}
FROM tickets WHERE thread_id = :thread_id AND state IN ('open', 'taken') ORDER BY id;

-- thread_operator: Reads which operator has a thread, and whether the thread itself was taken.
SELECT operator, for_itself FROM thread_operators WHERE thread_id = :thread_id;

-- said_by_people: Lists operators' messages on a thread since a position, how tickets ended, and
-- unprompted messages of capabilities.
SELECT seq, actor, content FROM messages
WHERE thread_id = :thread_id AND seq > :above AND content IS NOT NULL AND origin = 'desk'
    AND (
        instr(actor, '/operators/') > 0 OR instr(metadata, '"ticket":') > 0
        OR instr(metadata, '"capability":') > 0
    )
ORDER BY seq LIMIT :limit;

-- hand_over: Assigns a thread to an operator.
INSERT INTO thread_operators (thread_id, operator, since) VALUES (:thread_id, :operator, :since);

-- take_for_itself: Stores that an operator has taken the thread itself, not only a ticket.
UPDATE thread_operators SET for_itself = 1 WHERE thread_id = :thread_id AND for_itself = 0
RETURNING thread_id;

-- hand_back: Returns a thread to the agent.
DELETE FROM thread_operators WHERE thread_id = :thread_id RETURNING operator;

-- tickets_waiting: Counts tickets that wait for a person, by kind and state, up to a bound; with
-- when the first was created.
SELECT kind, state, count(*), min(created_at) FROM (
    SELECT kind, state, created_at FROM tickets WHERE state IN ('open', 'taken') LIMIT :limit
) AS waiting GROUP BY kind, state;

-- ticket_tallies: Lists the number of tickets created and ended, a row for each outcome.
SELECT kind, how, within, tickets, seconds FROM ticket_tallies;

-- tickets_before: Lists the newest tickets before one.
SELECT {ticket} FROM tickets WHERE id < :before ORDER BY id DESC LIMIT :limit;

-- ended_tickets_of_thread: Lists the newest tickets of a thread that have ended.
SELECT {ticket} FROM tickets
WHERE thread_id = :thread_id AND state NOT IN ('open', 'taken') ORDER BY id DESC LIMIT :limit;

-- personal_tickets_on_thread: Lists tickets that an erasure of a person empties on a thread.
SELECT id, principal, thread_id, call_id, kind, state, about, note, answer, asked_from, contact,
    created_at, ended_at
FROM tickets WHERE {theirs_on_thread} AND id > :after ORDER BY id LIMIT :limit;

-- personal_tickets: Lists tickets that an erasure of a principal empties.
SELECT id, principal, thread_id, call_id, kind, state, about, note, answer, asked_from, contact,
    created_at, ended_at
FROM tickets WHERE {theirs} AND id > :after ORDER BY id LIMIT :limit;
