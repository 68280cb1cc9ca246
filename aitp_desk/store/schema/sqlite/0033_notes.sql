-- What operators note beside threads, for each other alone.
CREATE TABLE notes (
    thread_id  TEXT    NOT NULL REFERENCES threads (id),
    id         TEXT    NOT NULL,
    operator   TEXT    NOT NULL,  -- name of who wrote it
    words      TEXT    NOT NULL,
    created_at INTEGER NOT NULL,  -- Unix seconds
    PRIMARY KEY (thread_id, id)
) STRICT, WITHOUT ROWID;

-- whether an operator has taken the thread for itself, and not only with a ticket
ALTER TABLE thread_operators ADD COLUMN for_itself INTEGER NOT NULL DEFAULT 0;
