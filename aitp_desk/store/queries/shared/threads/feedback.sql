-- feedback_of: Reads what a person thinks of a message.
SELECT rating, reason FROM feedback
WHERE thread_id = :thread_id AND message_id = :message_id AND principal = :principal;

-- set_feedback: Stores what a person thinks of a message, or replaces it.
INSERT INTO feedback (thread_id, message_id, principal, rating, reason, created_at)
VALUES (:thread_id, :message_id, :principal, :rating, :reason, :created_at)
ON CONFLICT (thread_id, message_id, principal) DO UPDATE
SET rating = excluded.rating, reason = excluded.reason, created_at = excluded.created_at;

-- delete_feedback: Deletes what a person thinks of a message.
DELETE FROM feedback
WHERE thread_id = :thread_id AND message_id = :message_id AND principal = :principal;

-- ratings_of_thread: Counts the ratings of a thread's messages.
SELECT message_id, rating, count(*) FROM feedback
WHERE thread_id = :thread_id GROUP BY message_id, rating;

-- count_event: Stores the number of a thread's newest event; the thread was not used by it.
UPDATE threads SET last_event = :last_event WHERE id = :thread_id;

-- give_feedback: Gives the anonymous visitor's feedback to the thread's owner.
UPDATE feedback SET principal = :owner
WHERE thread_id = :thread_id AND principal = '' AND NOT EXISTS (
    SELECT 1 FROM feedback AS own
    WHERE own.thread_id = feedback.thread_id AND own.message_id = feedback.message_id
        AND own.principal = :owner
);

-- delete_feedback_of_message: Deletes what people think of a message.
DELETE FROM feedback WHERE thread_id = :thread_id AND message_id = :message_id;

-- rows theirs: Those of a principal, on all threads or one.
principal = :whose AND principal <> '' AND (:thread_id = '' OR thread_id = :thread_id);

-- erase_feedback: Deletes a person's feedback of a time on a thread, or everybody's.
DELETE FROM feedback
WHERE thread_id = :thread_id AND created_at >= :since AND (:whose = '' OR principal = :whose);

-- erase_own_feedback: Deletes a person's feedback on all threads, or on one.
DELETE FROM feedback WHERE {theirs};

-- personal_feedback_on_thread: Lists the feedback on a thread; that of a deleted message goes too.
SELECT message_id || ' ' || principal, nullif(principal, ''), thread_id, message_id, rating, reason,
    created_at
FROM feedback WHERE thread_id = :thread_id
  AND message_id || ' ' || principal > :after ORDER BY 1 LIMIT :limit;

-- personal_feedback: Lists the feedback that an erasure of a principal deletes.
SELECT message_id || ' ' || principal, nullif(principal, ''), thread_id, message_id, rating, reason,
    created_at
FROM feedback WHERE {theirs}
  AND message_id || ' ' || principal > :after ORDER BY 1 LIMIT :limit;
