-- add_note: Adds an operator's note to a thread.
INSERT INTO notes (thread_id, id, operator, words, created_at)
VALUES (:thread_id, :id, :operator, :words, :created_at);

-- notes_of_thread: Lists the oldest notes of a thread after one.
SELECT id, thread_id, operator, words, created_at FROM notes
WHERE thread_id = :thread_id AND id > :after ORDER BY id LIMIT :limit;

-- rows since: Those of a thread since a time.
thread_id = :thread_id AND created_at >= :since;

-- erase_notes: Deletes the notes of a thread that were made since a time.
DELETE FROM notes WHERE {since};

-- personal_notes: Lists the notes that an erasure of a person deletes on a thread.
SELECT id, NULL, thread_id, operator, words, created_at
FROM notes WHERE {since} AND id > :after ORDER BY id LIMIT :limit;
