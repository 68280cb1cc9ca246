-- Files that callers uploaded. Their bytes stand in the same database: a file and its bytes come and
-- go in one commit, every process of a desk sees them, and one backup has everything.

CREATE TABLE files (
    id         TEXT    NOT NULL PRIMARY KEY,
    owner      TEXT,               -- id of the principal; NULL: anonymous, the id alone opens it
    counted    TEXT    NOT NULL,   -- against whose allowance it counts
    created_at INTEGER NOT NULL,
    expires_at INTEGER,            -- NULL: it stays until it is deleted
    name       TEXT    NOT NULL,
    purpose    TEXT    NOT NULL,
    media_type TEXT    NOT NULL,   -- as its bytes say
    size       INTEGER NOT NULL    -- bytes
) STRICT, WITHOUT ROWID;
CREATE INDEX files_of_owner ON files (owner, id);
CREATE INDEX files_counted ON files (counted, size);
CREATE INDEX files_expiring ON files (expires_at, id) WHERE expires_at IS NOT NULL;

CREATE TABLE file_parts (
    file_id TEXT    NOT NULL REFERENCES files (id),
    n       INTEGER NOT NULL,      -- from 0
    bytes   BLOB    NOT NULL,      -- a MiB each, but the last
    PRIMARY KEY (file_id, n)
) STRICT;
