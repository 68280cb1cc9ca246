-- What capabilities keep: records that are replaced as a whole, and counters that are added to.
CREATE TABLE capability_records (
    capability TEXT    NOT NULL,  -- its slug
    key        TEXT    NOT NULL,  -- the capability's own name for it
    version    INTEGER NOT NULL,  -- how often it was written
    value      TEXT    NOT NULL,  -- JSON; 'null' once it is erased
    thread_id  TEXT    REFERENCES threads (id),  -- where it was written last; NULL: it outlives that
    updated_at INTEGER NOT NULL,
    open_until INTEGER,           -- until when it waits for an answer there; NULL: for nothing
    PRIMARY KEY (capability, key)
) STRICT;
CREATE INDEX capability_records_open ON capability_records (thread_id, open_until)
    WHERE open_until IS NOT NULL;
CREATE INDEX capability_records_of_thread ON capability_records (thread_id)
    WHERE thread_id IS NOT NULL;

CREATE TABLE capability_counters (
    capability TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    value      INTEGER NOT NULL,
    PRIMARY KEY (capability, key)
) STRICT;
