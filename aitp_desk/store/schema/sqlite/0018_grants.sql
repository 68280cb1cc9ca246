-- Threads that are shared. A grant that is revoked is deleted; one that has expired opens nothing.
CREATE TABLE grants (
    id         TEXT    NOT NULL PRIMARY KEY,
    thread_id  TEXT    NOT NULL REFERENCES threads (id),
    principal  TEXT    NOT NULL,   -- id of the caller whom it is shared with; of a link its own
    may        TEXT    NOT NULL,   -- model/grant.py: May
    hash       BLOB,               -- keyed hash of a link's secret; NULL for no link
    created_at INTEGER NOT NULL,
    expires_at INTEGER             -- Unix seconds; NULL: it lasts until it is revoked
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX grants_of_thread ON grants (thread_id, principal);
CREATE UNIQUE INDEX grants_by_hash ON grants (hash) WHERE hash IS NOT NULL;
