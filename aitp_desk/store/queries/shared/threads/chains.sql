-- chained_messages: Lists messages of all threads after one of them, thread by thread, each with
-- where the chain of its thread ends. A deleted message has neither content nor salt.
SELECT message.id, message.thread_id, seq, role, actor, message.created_at, content, attachments,
       salt, digest, link, last_seq, last_link
FROM messages AS message CROSS JOIN threads
WHERE threads.id = message.thread_id AND (message.thread_id, seq) > (:thread_id, :seq)
ORDER BY message.thread_id, seq LIMIT :limit;

-- emptied_threads: Lists threads after one of them, and whether a message of it is no longer
-- stored.
SELECT id, CAST(
    last_seq > 0 AND NOT EXISTS (SELECT 1 FROM messages WHERE thread_id = threads.id) AS INTEGER
)
FROM threads WHERE id > :thread_id ORDER BY id LIMIT :limit;

-- folded_turns_after: Lists first turns that are stored in one row, after one of them.
SELECT thread_id, turn FROM folded_turns
WHERE thread_id > :thread_id ORDER BY thread_id LIMIT :limit;
