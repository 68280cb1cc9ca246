-- Tasks: names of their own for turns of conversations, and whom to tell how they go on.
CREATE TABLE tasks (
    id         TEXT    NOT NULL PRIMARY KEY,
    desk       TEXT    NOT NULL,
    thread_id  TEXT    NOT NULL REFERENCES threads (id),
    context    TEXT    NOT NULL,  -- what its caller calls the conversation
    owner      TEXT,              -- id of the principal whose it is; NULL of an anonymous one
    created_at INTEGER NOT NULL,  -- Unix seconds
    changed_at INTEGER NOT NULL   -- Unix seconds of the newest turn
) STRICT, WITHOUT ROWID;
CREATE INDEX tasks_of_thread ON tasks (thread_id, changed_at, id);
CREATE INDEX tasks_of_owner ON tasks (owner, desk, changed_at, id) WHERE owner IS NOT NULL;
CREATE INDEX tasks_by_context ON tasks (context);

CREATE TABLE task_turns (
    task_id    TEXT    NOT NULL REFERENCES tasks (id),
    n          INTEGER NOT NULL,  -- from 1
    message_id TEXT,              -- what was said for it on the thread
    run_id     TEXT,              -- what answers that
    call_id    TEXT,              -- or the call of an action that was asked for
    asked      TEXT,              -- JSON of that call, as its caller wrote it
    said       TEXT,              -- JSON of what came of a call that was not made
    created_at INTEGER NOT NULL,
    PRIMARY KEY (task_id, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX task_turns_of_run ON task_turns (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX task_turns_of_call ON task_turns (call_id) WHERE call_id IS NOT NULL;

CREATE TABLE task_pushes (
    task_id    TEXT    NOT NULL REFERENCES tasks (id),
    id         TEXT    NOT NULL,
    url        TEXT    NOT NULL,
    sealed     BLOB    NOT NULL,  -- what proves to its receiver who tells it
    version    TEXT    NOT NULL,  -- of the protocol
    principal  TEXT,              -- who asked for it
    created_at INTEGER NOT NULL,
    PRIMARY KEY (task_id, id)
) STRICT, WITHOUT ROWID;
