-- Calls of the site's actions. Times are Unix seconds.
CREATE TABLE calls (
    id           TEXT    NOT NULL PRIMARY KEY,
    desk         TEXT    NOT NULL,  -- name of the further site agent; empty: the site's own
    action       TEXT    NOT NULL,
    state        TEXT    NOT NULL,  -- model/call.py: CallState
    thread_id    TEXT,              -- on which it was asked for
    session_id   TEXT,              -- by which
    principal    TEXT,              -- id of who asked; NULL: nobody known
    asked_by     TEXT,              -- the same as JSON with what they may, without an address
    source       TEXT    NOT NULL,  -- arguments, text or model
    arguments    TEXT    NOT NULL,  -- JSON object
    memory       TEXT,              -- JSON of what was read and asked for, while input is waited for
    intent       TEXT,              -- what for, in the caller's words
    price        TEXT,              -- JSON
    callback_url TEXT,
    progress     TEXT    NOT NULL,
    result       TEXT    NOT NULL,  -- JSON
    text         TEXT    NOT NULL,  -- the result in words
    effects      TEXT    NOT NULL,  -- JSON list
    error        TEXT,              -- JSON
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    ended_at     INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX calls_of_session ON calls (session_id, created_at) WHERE session_id IS NOT NULL;
CREATE INDEX calls_of_thread ON calls (thread_id) WHERE thread_id IS NOT NULL;
CREATE INDEX calls_of_principal ON calls (principal) WHERE principal IS NOT NULL;
CREATE INDEX calls_of_action ON calls (desk, action, created_at) WHERE state = 'succeeded';
CREATE INDEX calls_at_work ON calls (created_at, id) WHERE state = 'started';
