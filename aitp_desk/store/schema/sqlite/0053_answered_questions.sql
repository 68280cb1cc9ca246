-- Questions that an operator has marked as answered by a page, as keyed digests: their text stays
-- with their threads.
CREATE TABLE answered_questions (
    desk      TEXT    NOT NULL,  -- name of the further site agent; empty: the site's own
    digest    BLOB    NOT NULL,
    page      TEXT    NOT NULL,  -- path of the page
    marked_by TEXT    NOT NULL,  -- name of the operator
    marked_at INTEGER NOT NULL,  -- Unix seconds
    PRIMARY KEY (desk, digest)
) STRICT, WITHOUT ROWID;
CREATE INDEX answered_questions_by_age ON answered_questions (marked_at);
-- The desk's replies that found no answer.
CREATE INDEX messages_refused ON messages (id)
    WHERE origin = 'desk' AND instr(metadata, '"found":"false"') > 0;
