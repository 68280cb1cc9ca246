-- columns operator_ticket: The columns of a ticket as operators on a platform know it.
ticket, transport, address, state, taken_by, seq, steps, queued, queued_state, queued_by,
queued_seq, answerer, answerer_until, is_over;

-- add_operator_ticket: Inserts a ticket that is to be shown on a platform.
INSERT INTO operator_tickets (
    ticket, transport, address, state, taken_by, seq, steps, queued, queued_state, queued_by,
    queued_seq, answerer, answerer_until, told_at, is_over
) VALUES (:ticket, :transport, '', '', '', 0, 0, 0, :state, :taken_by, 0, '', 0, :now, 0)
ON CONFLICT (ticket, transport) DO NOTHING;

-- operator_ticket: Finds a ticket as operators on a platform know it.
SELECT {operator_ticket} FROM operator_tickets WHERE ticket = :ticket AND transport = :transport;

-- operator_ticket_at: Finds the ticket that a conversation on a platform is about.
SELECT ticket FROM operator_tickets WHERE transport = :transport AND address = :address
ORDER BY ticket DESC LIMIT 1;

-- operator_ticket_of_message: Finds the ticket that a message on a platform is about.
SELECT ticket FROM operator_messages
WHERE transport = :transport AND address = :address AND ref = :ref;

-- operator_messages_under_way: Returns whether messages to operators on a platform are being sent.
SELECT 1 FROM jobs
WHERE kind = :kind AND state IN ('queued', 'at_work') AND principal LIKE :ending LIMIT 1;

-- operator_messages: Lists what a platform calls the newest messages about a ticket.
SELECT ref FROM operator_messages
WHERE ticket = :ticket AND transport = :transport AND step >= 0
ORDER BY step DESC LIMIT :limit;

-- operator_tickets_behind: Lists shown tickets whose changes have no job yet.
SELECT o.ticket, o.transport, t.state, coalesce(t.taken_by, ''), coalesce(h.last_seq, 0)
FROM operator_tickets o
JOIN tickets t ON t.id = o.ticket
LEFT JOIN threads h ON h.id = t.thread_id
WHERE o.is_over = 0 AND (o.ticket, o.transport) > (:ticket, :transport)
  AND (o.queued_state <> t.state OR o.queued_by <> coalesce(t.taken_by, '')
       OR (t.state = 'taken' AND o.queued_seq < coalesce(h.last_seq, 0)))
ORDER BY o.ticket, o.transport LIMIT :limit;

-- operator_ticket_behind: Reads the same of one ticket, and how many jobs were queued for it.
SELECT o.queued, t.state, coalesce(t.taken_by, ''), coalesce(h.last_seq, 0)
FROM operator_tickets o
JOIN tickets t ON t.id = o.ticket
LEFT JOIN threads h ON h.id = t.thread_id
WHERE o.ticket = :ticket AND o.transport = :transport AND o.is_over = 0
  AND (o.queued_state <> t.state OR o.queued_by <> coalesce(t.taken_by, '')
       OR (t.state = 'taken' AND o.queued_seq < coalesce(h.last_seq, 0)));

-- queue_operator_ticket: Stores up to which changes of a ticket jobs are queued.
UPDATE operator_tickets SET
    queued = queued + 1, queued_state = :state, queued_by = :taken_by, queued_seq = :seq
WHERE ticket = :ticket AND transport = :transport;

-- tell_operator_ticket: Stores what operators on a platform know of a ticket.
UPDATE operator_tickets SET
    address = :address, state = :state, taken_by = :taken_by, seq = :seq, steps = :steps,
    is_over = :is_over, told_at = :now
WHERE ticket = :ticket AND transport = :transport;

-- await_operator_answer: Stores whose next reply is the answer of a ticket.
UPDATE operator_tickets SET answerer = :person, answerer_until = :until
WHERE ticket = :ticket AND transport = :transport;

-- add_operator_message: Stores what a platform calls a message about a ticket.
INSERT INTO operator_messages (transport, address, ref, ticket, step)
VALUES (:transport, :address, :ref, :ticket, :step)
ON CONFLICT (transport, address, ref) DO NOTHING;

-- add_operator_press: Inserts what an operator has pressed, unless it is known. It is a message
-- that is in no conversation.
INSERT INTO operator_messages (transport, address, ref, ticket, step)
VALUES (:transport, '', :event, :ticket, -1)
ON CONFLICT (transport, address, ref) DO NOTHING RETURNING ref;

-- drop_operator_messages: Deletes what platforms call the messages about a ticket.
DELETE FROM operator_messages WHERE ticket = :ticket AND transport = :transport;

-- drop_old_operator_tickets: Deletes tickets whose end was told long ago.
DELETE FROM operator_tickets WHERE (ticket, transport) IN (
    SELECT ticket, transport FROM operator_tickets WHERE is_over = 1 AND told_at < :before
    ORDER BY told_at LIMIT :limit
) RETURNING ticket, transport;

-- put_operator_control: Inserts what a button does.
INSERT INTO operator_controls (token, ticket, transport, deed, person, expires_at)
VALUES (:token, :ticket, :transport, :deed, :person, :expires_at)
ON CONFLICT (token) DO NOTHING;

-- operator_control: Finds what a button does.
SELECT token, ticket, transport, deed, person, expires_at FROM operator_controls
WHERE token = :token;

-- drop_expired_operator_controls: Deletes what buttons did.
DELETE FROM operator_controls WHERE token IN (
    SELECT token FROM operator_controls WHERE expires_at < :now ORDER BY expires_at LIMIT :limit
) RETURNING token;

-- put_operator_code: Inserts a code that binds a person to a key.
INSERT INTO operator_codes (hash, transport, key_id, version, expires_at)
VALUES (:hash, :transport, :key_id, :version, :expires_at);

-- take_operator_code: Deletes a code, and returns what it stood for.
DELETE FROM operator_codes WHERE hash = :hash AND transport = :transport
RETURNING key_id, version, expires_at;

-- operator_code: Finds what a code stands for.
SELECT key_id, version, expires_at FROM operator_codes
WHERE hash = :hash AND transport = :transport;

-- drop_expired_operator_codes: Deletes codes after their time.
DELETE FROM operator_codes WHERE hash IN (
    SELECT hash FROM operator_codes WHERE expires_at < :now ORDER BY expires_at LIMIT :limit
) RETURNING hash;

-- bind_operator: Binds a person to a key, instead of to any other.
INSERT INTO operator_people (transport, person, key_id, version, code, bound_at)
VALUES (:transport, :person, :key_id, :version, :code, :now)
ON CONFLICT (transport, person) DO UPDATE SET
    key_id = :key_id, version = :version, code = :code, bound_at = :now;

-- unbind_operator: Ends the binding of a person.
DELETE FROM operator_people WHERE transport = :transport AND person = :person RETURNING key_id;

-- bound_operator: Finds the binding of a person.
SELECT transport, person, key_id, version, code, bound_at FROM operator_people
WHERE transport = :transport AND person = :person;

-- bound_operators: Lists bindings, those of a transport or of all, after one.
SELECT transport, person, key_id, version, code, bound_at FROM operator_people
WHERE (transport, person) > (:transport, :person) ORDER BY transport, person LIMIT :limit;

-- bound_operators_of_key: Lists the people who act as the holder of a key.
SELECT transport, person, key_id, version, code, bound_at FROM operator_people
WHERE key_id = :key_id ORDER BY transport, person LIMIT :limit;
