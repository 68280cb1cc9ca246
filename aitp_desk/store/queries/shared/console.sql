-- tickets_waiting_now: Counts tickets that wait for a person, by who has taken them, up to a bound,
-- with when the first of them was made.
SELECT state, taken_by, count(*), min(created_at) FROM (
    SELECT state, taken_by, created_at FROM tickets
    WHERE state IN ('open', 'taken') ORDER BY id LIMIT :limit
) AS pending GROUP BY state, taken_by;

-- newest_said: Lists the newest messages before a position, with their threads, and whether each is
-- the thread's last.
SELECT m.id, m.thread_id, t.desk, CAST(m.seq = t.last_seq AND t.deleted_at IS NULL AS INTEGER)
FROM messages m JOIN threads t ON t.id = m.thread_id
WHERE m.id < :before ORDER BY m.id DESC LIMIT :limit;

-- newest_folded: Lists the newest folded threads before a position.
SELECT thread_id FROM folded_turns WHERE thread_id < :before ORDER BY thread_id DESC LIMIT :limit;

-- newest_words: Lists the searchable text of the newest messages before a position.
SELECT id, thread_id, seq, substr(content, 1, :longest) FROM messages
WHERE id < :before ORDER BY id DESC LIMIT :limit;

-- newest_folded_words: Lists the newest folded turns before a position.
SELECT thread_id, turn FROM folded_turns
WHERE thread_id < :before ORDER BY thread_id DESC LIMIT :limit;

-- words_after: Lists the text of a thread after a message, between two positions.
SELECT substr(content, 1, :longest) FROM messages
WHERE thread_id = :thread_id AND seq > :seq AND id >= :since AND id <= :until
ORDER BY seq LIMIT :limit;

-- threads_taken: Lists threads that an operator has taken, up to a bound.
SELECT thread_id FROM thread_operators ORDER BY thread_id LIMIT :limit;

-- threads_of_waiting_tickets: Lists the threads of the oldest waiting tickets, up to a bound.
SELECT thread_id FROM tickets
WHERE state IN ('open', 'taken') AND thread_id IS NOT NULL ORDER BY id LIMIT :limit;

-- end_of_thread: Reads the last message of a thread, its operator, and whether a request for a
-- person is unassigned.
SELECT m.id, t.desk, m.origin, o.operator, CAST(EXISTS (
    SELECT 1 FROM tickets
    WHERE thread_id = t.id AND kind IN ('request', 'question') AND state = 'open'
) AS INTEGER)
FROM threads t JOIN messages m ON m.thread_id = t.id AND m.seq = t.last_seq
LEFT JOIN thread_operators o ON o.thread_id = t.id
WHERE t.id = :thread_id AND t.deleted_at IS NULL;

-- thread_line: Reads a thread with its operator and its last message.
SELECT t.id, t.desk, t.created_at, t.updated_at, t.last_seq, t.owner, o.operator, m.role, m.actor,
    m.origin, m.content, m.created_at
FROM threads t
LEFT JOIN thread_operators o ON o.thread_id = t.id
LEFT JOIN messages m ON m.thread_id = t.id AND m.seq = t.last_seq
WHERE t.id = :thread_id AND t.deleted_at IS NULL;

-- said_before: Lists the newest messages of a thread before a position, including deleted ones.
SELECT id, seq, role, actor, origin, created_at, content, attachments, metadata FROM messages
WHERE thread_id = :thread_id AND seq < :before ORDER BY seq DESC LIMIT :limit;

-- count_said_between: Counts the oldest messages between two positions, up to a bound, and how many
-- are of visitors, with the last position.
SELECT count(*), sum(CASE WHEN origin = 'visitor' THEN 1 ELSE 0 END), max(id) FROM (
    SELECT id, origin FROM messages
    WHERE id > :since AND id < :before ORDER BY id LIMIT :limit
) AS counted;

-- count_folded_between: Counts the oldest folded threads between two positions, up to a bound, with
-- the last position.
SELECT count(*), max(thread_id) FROM (
    SELECT thread_id FROM folded_turns
    WHERE thread_id > :since AND thread_id < :before ORDER BY thread_id LIMIT :limit
) AS counted;

-- count_tickets_made: Counts tickets created within a period, up to a bound.
SELECT count(*) FROM (
    SELECT created_at FROM tickets
    WHERE created_at >= :since AND created_at < :before LIMIT :limit
) AS made;

-- tickets_waited: Lists the waiting times of tickets that ended within a period.
SELECT ended_at - created_at FROM tickets
WHERE ended_at >= :since AND ended_at < :before ORDER BY ended_at LIMIT :limit;

-- names_of_callers: Reads the names that the owner gave to some keys and OAuth clients.
SELECT 'key:' || id, name FROM tokens WHERE id IN (
    :id_a, :id_b, :id_c, :id_d, :id_e, :id_f, :id_g, :id_h, :id_i, :id_j, :id_k, :id_l,
    :id_m, :id_n, :id_o, :id_p, :id_q, :id_r, :id_s, :id_t, :id_u, :id_v, :id_w,
    :id_x, :id_y
)
UNION ALL
SELECT 'client:' || id, name FROM clients WHERE is_registered = 0 AND id IN (
    :id_a, :id_b, :id_c, :id_d, :id_e, :id_f, :id_g, :id_h, :id_i, :id_j, :id_k, :id_l,
    :id_m, :id_n, :id_o, :id_p, :id_q, :id_r, :id_s, :id_t, :id_u, :id_v, :id_w,
    :id_x, :id_y
);
