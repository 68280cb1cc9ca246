-- What waits for a person. Times are Unix seconds.
CREATE TABLE tickets (
    id         TEXT    NOT NULL PRIMARY KEY,
    desk       TEXT    NOT NULL,  -- name of the further site agent; empty: the site's own
    kind       TEXT    NOT NULL,  -- model/ticket.py: TicketKind
    state      TEXT    NOT NULL,  -- model/ticket.py: TicketState
    about      TEXT    NOT NULL,  -- in a line
    note       TEXT    NOT NULL,
    thread_id  TEXT,              -- where the answer is said
    call_id    TEXT,              -- the call that it is about
    principal  TEXT,              -- id of who asked; NULL: nobody known
    created_at INTEGER NOT NULL,
    due_at     INTEGER,           -- NULL: as long as it takes
    answer     TEXT    NOT NULL,
    ended_by   TEXT,              -- name of who answered or closed it
    ended_at   INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX tickets_of_call ON tickets (call_id) WHERE call_id IS NOT NULL;
CREATE INDEX tickets_of_thread ON tickets (thread_id) WHERE thread_id IS NOT NULL;
CREATE INDEX tickets_of_principal ON tickets (principal) WHERE principal IS NOT NULL;
CREATE INDEX tickets_due ON tickets (due_at) WHERE state = 'open' AND due_at IS NOT NULL;
CREATE INDEX tickets_open ON tickets (id) WHERE state = 'open';
