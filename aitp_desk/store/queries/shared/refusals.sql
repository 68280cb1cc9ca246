-- refusals_before: Lists the newest replies before one that found no answer at the site's own desk,
-- with the question just before each.
SELECT said.id, said.created_at, said.thread_id, asked.content
FROM messages said
JOIN threads ON threads.id = said.thread_id
JOIN messages asked ON asked.thread_id = said.thread_id AND asked.seq = said.seq - 1
WHERE said.id < :before AND said.origin = 'desk' AND instr(said.metadata, '"found":"false"') > 0
    AND threads.desk = '' AND asked.origin = 'visitor' AND asked.content IS NOT NULL
ORDER BY said.id DESC LIMIT :limit;

-- newest_refused: Lists the newest messages before one; with the question before each that found no
-- answer.
SELECT said.id, said.created_at, said.thread_id, threads.desk, asked.content
FROM (SELECT * FROM messages WHERE id < :before ORDER BY id DESC LIMIT :limit) AS said
LEFT JOIN threads ON threads.id = said.thread_id
LEFT JOIN messages asked ON said.origin = 'desk' AND instr(said.metadata, '"found":"false"') > 0
    AND asked.thread_id = said.thread_id AND asked.seq = said.seq - 1 AND asked.origin = 'visitor'
ORDER BY said.id DESC;
