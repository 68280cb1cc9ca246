-- columns message: The columns of a message.
id, thread_id, seq, role, actor, origin, created_at, content, attachments, metadata, run_id,
principal;

-- add_thread: Opens a thread.
INSERT INTO threads (
    id, owner, parent_id, parent_seq, speaker, created_at, updated_at, last_seq, last_link,
    last_event, metadata, desk
) VALUES (
    :thread_id, :owner, :parent_id, :parent_seq, :speaker, :created_at, :updated_at, :last_seq,
    :last_link, :last_event, :metadata, :desk
);

-- add_message: Adds a message to its thread.
INSERT INTO messages (
    id, thread_id, seq, event, role, actor, origin, created_at, content, attachments, salt, digest,
    link, metadata, run_id, principal
) VALUES (
    :id, :thread_id, :seq, :event, :role, :actor, :origin, :created_at, :content, :attachments,
    :salt, :digest, :link, :metadata, :run_id, :principal
);

-- add_event: Adds an event that is no message to its thread.
INSERT INTO events (thread_id, n, after_seq, kind, ref, created_at)
VALUES (:thread_id, :n, :after_seq, :kind, :ref, :created_at);

-- move_tail: Updates where a thread ends.
UPDATE threads
SET last_seq = :last_seq, last_link = :last_link, last_event = :last_event,
    updated_at = :updated_at
WHERE id = :thread_id;

-- set_answered: Stores up to which message a thread has been answered.
UPDATE threads SET answered_seq = :seq WHERE id = :thread_id;

-- pass_over: Marks a message as needing no run, unless an earlier one waits for one.
UPDATE threads SET answered_seq = :seq
WHERE id = :thread_id AND NOT EXISTS (
    SELECT 1 FROM messages AS waiting
    WHERE waiting.thread_id = :thread_id AND waiting.seq > threads.answered_seq
        AND waiting.seq <= :before AND waiting.role = 'user' AND waiting.origin = 'visitor'
);

-- set_thread_metadata: Replaces a thread's metadata.
UPDATE threads SET metadata = :metadata, updated_at = :updated_at WHERE id = :thread_id;

-- set_message_metadata: Replaces a message's metadata.
UPDATE messages SET metadata = :metadata
WHERE id = :id AND thread_id = :thread_id AND content IS NOT NULL
RETURNING {message};

-- claim_thread: Sets the owner of an anonymous thread.
UPDATE threads SET owner = :owner, speaker = :speaker, claimed_at = :now WHERE id = :thread_id;

-- attachments_of_thread: Lists the attachments of a thread's messages.
SELECT attachments FROM messages
WHERE thread_id = :thread_id AND attachments IS NOT NULL AND attachments <> '[]';

-- delete_message: Deletes the content of a message; its link in the chain stays.
UPDATE messages
SET content = NULL, attachments = NULL, salt = NULL, metadata = '{}'
WHERE id = :id AND thread_id = :thread_id;

-- delete_thread: Closes a thread permanently.
UPDATE threads SET deleted_at = :now, metadata = '{}' WHERE id = :thread_id;

-- empty_actors_of_thread: Deletes what a thread's visitors have declared; their stays remain.
UPDATE actors SET capabilities = '[]' WHERE thread_id = :thread_id AND origin = 'visitor';

-- delete_messages_of_thread: Deletes the content of every message of a thread, as delete_message
-- does.
UPDATE messages
SET content = NULL, attachments = NULL, salt = NULL, metadata = '{}'
WHERE thread_id = :thread_id AND content IS NOT NULL;

-- thread_tail: Reads where a thread of a desk ends, for a unit that will append to it.
SELECT owner, updated_at, speaker, last_seq, last_link, last_event
FROM threads WHERE id = :thread_id AND desk = :desk AND deleted_at IS NULL;

-- thread_desk: Reads at which desk a thread was opened.
SELECT desk FROM threads WHERE id = :thread_id AND deleted_at IS NULL;

-- thread: Reads a thread.
SELECT id, owner, created_at, metadata, parent_id, speaker, updated_at, last_seq, last_event,
       claimed_at
FROM threads WHERE id = :thread_id AND deleted_at IS NULL;

-- newest_of_owner: Lists the newest threads of a caller at a desk.
SELECT id, metadata, updated_at, last_event FROM threads
WHERE owner = :owner AND desk = :desk AND owner IS NOT NULL AND deleted_at IS NULL
ORDER BY id DESC LIMIT :limit;

-- forked_at: Reads where a thread was forked from another.
SELECT parent_id, parent_seq FROM threads WHERE id = :thread_id AND parent_seq IS NOT NULL;

-- message: Reads a message of a thread.
SELECT {message}
FROM messages WHERE id = :id AND thread_id = :thread_id AND content IS NOT NULL;

-- newest_of_desk: Reads the newest message of the desk on a thread.
SELECT {message}
FROM messages
WHERE thread_id = :thread_id AND origin = 'desk' AND content IS NOT NULL
ORDER BY seq DESC LIMIT 1;

-- message_seq: Finds a message's position on a thread, even if it was deleted.
SELECT seq FROM messages WHERE id = :id AND thread_id = :thread_id;

-- messages_upwards: Lists the oldest messages between two positions.
SELECT {message}
FROM messages
WHERE thread_id = :thread_id AND seq > :above AND seq < :below AND content IS NOT NULL
ORDER BY seq LIMIT :limit;

-- messages_downwards: Lists the newest messages between two positions, newest first.
SELECT {message}
FROM messages
WHERE thread_id = :thread_id AND seq > :above AND seq < :below AND content IS NOT NULL
ORDER BY seq DESC LIMIT :limit;

-- run_messages_upwards: Lists the oldest messages of a run, between two positions.
SELECT {message}
FROM messages
WHERE run_id = :run_id AND thread_id = :thread_id AND origin = 'desk'
  AND seq > :above AND seq < :below AND content IS NOT NULL
ORDER BY seq LIMIT :limit;

-- run_messages_downwards: Lists the newest messages of a run between two positions, newest first.
SELECT {message}
FROM messages
WHERE run_id = :run_id AND thread_id = :thread_id AND origin = 'desk'
  AND seq > :above AND seq < :below AND content IS NOT NULL
ORDER BY seq DESC LIMIT :limit;

-- events: Lists a thread's events after one, messages among them.
SELECT n, kind, ref, created_at FROM (
    SELECT event AS n, 'message.created' AS kind, id AS ref, created_at FROM messages
    WHERE thread_id = :thread_id AND seq > :after - coalesce((
        SELECT n - after_seq FROM events
        WHERE thread_id = :thread_id AND n <= :after ORDER BY n DESC LIMIT 1
    ), 0)
    ORDER BY seq LIMIT :limit
) AS said
UNION ALL
SELECT n, kind, ref, created_at FROM (
    SELECT n, kind, ref, created_at FROM events
    WHERE thread_id = :thread_id AND n > :after ORDER BY n LIMIT :limit
) AS happened
ORDER BY n LIMIT :limit;

-- messages_after_event: Lists the oldest messages among the events of a thread after one.
SELECT {message}
FROM messages
WHERE thread_id = :thread_id AND content IS NOT NULL AND seq > :after - coalesce((
    SELECT n - after_seq FROM events
    WHERE thread_id = :thread_id AND n <= :after ORDER BY n DESC LIMIT 1
), 0)
ORDER BY seq LIMIT :limit;

-- run_queued_at: Finds the newest event that queued a run.
SELECT n FROM events
WHERE thread_id = :thread_id AND kind = 'run.queued' AND ref = :run_id
ORDER BY n DESC LIMIT 1;
