-- summary: Reads the summary of a thread.
SELECT thread_id, upto_seq, text, made_by FROM summaries WHERE thread_id = :thread_id;

-- keep_summary: Inserts or replaces the summary of a thread.
INSERT INTO summaries (thread_id, upto_seq, text, made_by)
VALUES (:thread_id, :upto_seq, :text, :made_by)
ON CONFLICT (thread_id) DO UPDATE
SET upto_seq = excluded.upto_seq, text = excluded.text, made_by = excluded.made_by;

-- count_said: Counts the messages between two positions that were not deleted.
SELECT count(*) FROM messages
WHERE thread_id = :thread_id AND seq > :above AND seq <= :upto AND content IS NOT NULL;

-- forget_summary: Deletes a thread's summary, if it covers a message.
DELETE FROM summaries WHERE thread_id = :thread_id AND upto_seq >= :seq;

-- forget_summaries_of_forks: Deletes the summaries of the forks of a thread at a message or later,
-- and of their forks.
DELETE FROM summaries WHERE thread_id IN (
    WITH RECURSIVE forks (id) AS (
        SELECT id FROM threads WHERE parent_id = :thread_id AND parent_seq >= :seq
        UNION
        SELECT t.id FROM forks f JOIN threads t ON t.parent_id = f.id AND t.parent_seq IS NOT NULL
    )
    SELECT id FROM forks
);
