-- summary: Reads what was said on a thread in few words.
SELECT thread_id, upto_seq, text, made_by FROM summaries WHERE thread_id = :thread_id;

-- keep_summary: Keeps what was said on a thread in few words, in the place of what was kept before.
INSERT INTO summaries (thread_id, upto_seq, text, made_by)
VALUES (:thread_id, :upto_seq, :text, :made_by)
ON CONFLICT (thread_id) DO UPDATE
SET upto_seq = excluded.upto_seq, text = excluded.text, made_by = excluded.made_by;

-- count_said: Counts the messages between two places that were not deleted.
SELECT count(*) FROM messages
WHERE thread_id = :thread_id AND seq > :above AND seq <= :upto AND content IS NOT NULL;

-- forget_summary: Drops a thread's summary, if it covers a message.
DELETE FROM summaries WHERE thread_id = :thread_id AND upto_seq >= :seq;

-- forget_summaries_of_forks: Drops the summaries of all that was forked off a thread at a message
-- or later, and of what was forked off these.
DELETE FROM summaries WHERE thread_id IN (
    WITH RECURSIVE forks (id) AS (
        SELECT id FROM threads WHERE parent_id = :thread_id AND parent_seq >= :seq
        UNION
        SELECT t.id FROM forks f JOIN threads t ON t.parent_id = f.id AND t.parent_seq IS NOT NULL
    )
    SELECT id FROM forks
);
