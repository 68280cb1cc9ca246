-- said_between: Lists the oldest messages between two positions: the beginning of visitors' and, of
-- the desk's, the metadata and the text with sources.
SELECT id, thread_id, seq, origin, role, actor, created_at, metadata,
    CASE WHEN origin = 'visitor' THEN substr(content, 1, 3)
        WHEN instr(content, '"Sources:') > 0 THEN content END
FROM messages
WHERE id > :since AND id < :before ORDER BY id LIMIT :limit;

-- folded_between: Lists the oldest folded turns between two positions.
SELECT thread_id, turn FROM folded_turns
WHERE thread_id > :since AND thread_id < :before ORDER BY thread_id LIMIT :limit;

-- people_asked: Lists the threads on which a person was asked within a period, with the times.
SELECT thread_id, created_at FROM tickets
WHERE created_at >= :since AND created_at < :before
    AND kind IN ('request', 'question') AND thread_id IS NOT NULL
ORDER BY created_at LIMIT :limit;

-- count_calls: Counts the calls between two positions by action.
SELECT action, count(*) FROM calls
WHERE id > :since AND id < :before GROUP BY action;

-- count_ratings: Counts the ratings of a period.
SELECT rating, count(*) FROM feedback
WHERE created_at >= :since AND created_at < :before GROUP BY rating;

-- refused_since: Lists the newest replies since a position that found no answer, with the question
-- just before each.
SELECT said.id, said.created_at, said.thread_id, threads.desk, asked.content
FROM messages said
JOIN threads ON threads.id = said.thread_id
JOIN messages asked ON asked.thread_id = said.thread_id AND asked.seq = said.seq - 1
WHERE said.id > :since AND said.origin = 'desk'
    AND instr(said.metadata, '"found":"false"') > 0
    AND asked.origin = 'visitor' AND asked.content IS NOT NULL
ORDER BY said.id DESC LIMIT :limit;

-- rated_down_since: Lists the newest messages that were rated down since a time, with the reason and
-- the visitor's question before each.
SELECT said.id, feedback.created_at, said.thread_id, threads.desk, asked.content, feedback.reason
FROM feedback
JOIN messages said ON said.id = feedback.message_id
JOIN threads ON threads.id = said.thread_id
JOIN messages asked ON asked.thread_id = said.thread_id AND asked.seq = (
    SELECT max(seq) FROM messages AS before
    WHERE before.thread_id = said.thread_id AND before.seq < said.seq
        AND before.origin = 'visitor' AND before.content IS NOT NULL
)
WHERE feedback.rating = 'down' AND feedback.created_at >= :since
ORDER BY feedback.created_at DESC LIMIT :limit;

-- answered_questions: Lists the questions of a desk that are marked as answered since a time.
SELECT digest, marked_at FROM answered_questions
WHERE marked_at >= :since AND desk = :desk ORDER BY marked_at LIMIT :limit;

-- set_answered_question: Marks a question as answered by a page.
INSERT INTO answered_questions (desk, digest, page, marked_by, marked_at)
VALUES (:desk, :digest, :page, :marked_by, :marked_at)
ON CONFLICT (desk, digest) DO UPDATE
SET page = excluded.page, marked_by = excluded.marked_by, marked_at = excluded.marked_at;

-- delete_answered_question: Takes back that a question is answered.
DELETE FROM answered_questions WHERE desk = :desk AND digest = :digest;

-- delete_old_answered: Deletes the marks that are older than every period that is shown.
DELETE FROM answered_questions WHERE marked_at < :before;
