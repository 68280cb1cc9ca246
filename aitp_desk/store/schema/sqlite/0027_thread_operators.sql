-- Threads that an operator has taken over: no run starts there by itself until they are handed back.
CREATE TABLE thread_operators (
    thread_id TEXT    NOT NULL PRIMARY KEY REFERENCES threads (id),
    operator  TEXT    NOT NULL,  -- id of the operator's actor
    since     INTEGER NOT NULL   -- Unix seconds
) STRICT, WITHOUT ROWID;

ALTER TABLE tickets ADD COLUMN taken_by TEXT;  -- name of the operator; NULL: nobody
DROP INDEX tickets_due;
DROP INDEX tickets_open;
CREATE INDEX tickets_due ON tickets (due_at)
    WHERE state IN ('open', 'taken') AND due_at IS NOT NULL;
CREATE INDEX tickets_waiting ON tickets (id) WHERE state IN ('open', 'taken');
