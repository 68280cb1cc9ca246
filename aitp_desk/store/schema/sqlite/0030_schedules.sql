-- What the desk does again and again, on its own account. Times are Unix seconds.
CREATE TABLE schedules (
    name        TEXT    NOT NULL PRIMARY KEY,
    every       INTEGER NOT NULL,  -- seconds from the end of a run to the begin of the next
    due_at      INTEGER NOT NULL,  -- it is not begun before
    runs        INTEGER NOT NULL,  -- how often it was begun
    failures    INTEGER NOT NULL,  -- how often in vain since it last did well
    leased_by   TEXT,              -- the process that is at it; NULL: none
    lease_until INTEGER NOT NULL,
    began_at    INTEGER,
    ended_at    INTEGER,           -- when a run last ended, well or not
    done_at     INTEGER,           -- when one last ended well
    did         INTEGER NOT NULL,  -- how many things that one has dealt with
    last_error  TEXT               -- why the last run failed; NULL: it did not
) STRICT, WITHOUT ROWID;
