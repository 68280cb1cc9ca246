-- What was said on a thread, and on what it was forked off, in few words: what the agent is told in
-- the place of old messages. A row is dropped with the words that it was made of.
CREATE TABLE summaries (
    thread_id TEXT    NOT NULL PRIMARY KEY REFERENCES threads (id),
    -- the newest message that it covers. What the thread was forked off ends at 0 and counts down:
    -- 0 is the newest message of the parent at the fork, -1 the one before.
    upto_seq  INTEGER NOT NULL,
    text      TEXT    NOT NULL,
    made_by   TEXT    NOT NULL   -- name of the agent, or extractive
) STRICT, WITHOUT ROWID;

-- To find what was forked off a thread whose words are deleted.
CREATE INDEX threads_forked ON threads (parent_id, parent_seq) WHERE parent_seq IS NOT NULL;
