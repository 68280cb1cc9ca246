-- A query turn that was answered within its request and opened its thread: thread, actors, both
-- messages and session in one row, because most such sessions end there. Whoever comes to the
-- thread or to the session finds them in their own tables, and this row gone.
CREATE TABLE folded_turns (
    thread_id  TEXT    NOT NULL PRIMARY KEY,
    session_id TEXT,               -- NULL once the session is forgotten
    last_at    INTEGER NOT NULL,   -- of the session, Unix seconds
    turn       BLOB    NOT NULL    -- store/records.py: FoldedTurn
) STRICT;
CREATE INDEX folded_turns_of_session ON folded_turns (session_id) WHERE session_id IS NOT NULL;
