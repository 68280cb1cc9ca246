-- How the parts of the desk are, and since when: a restart does not make what is broken young again.
CREATE TABLE conditions (
    name  TEXT    NOT NULL PRIMARY KEY,
    state TEXT    NOT NULL,  -- up, degraded or down
    since INTEGER NOT NULL   -- Unix seconds
) STRICT, WITHOUT ROWID;
