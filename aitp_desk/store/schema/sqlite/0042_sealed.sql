-- Values that nobody is to read in passing, sealed with a data key. Messages, calls and records hold
-- their references alone.
CREATE TABLE sealed_values (
    ref        TEXT    NOT NULL PRIMARY KEY,
    desk       TEXT    NOT NULL,  -- name of the further site agent; empty for the site's own
    sealed     BLOB    NOT NULL,
    thread_id  TEXT,              -- the thread that it goes with; NULL for none
    message_id TEXT,              -- what brought it
    call_id    TEXT,              -- or the call of an action that did
    principal  TEXT,              -- id of who gave it; NULL of an anonymous one
    made_at    INTEGER NOT NULL   -- Unix seconds
) STRICT, WITHOUT ROWID;
CREATE INDEX sealed_of_thread ON sealed_values (thread_id) WHERE thread_id IS NOT NULL;
CREATE INDEX sealed_of_message ON sealed_values (message_id) WHERE message_id IS NOT NULL;
CREATE INDEX sealed_of_call ON sealed_values (call_id) WHERE call_id IS NOT NULL;
CREATE INDEX sealed_of_principal ON sealed_values (principal) WHERE principal IS NOT NULL;
CREATE INDEX sealed_by_age ON sealed_values (made_at);
