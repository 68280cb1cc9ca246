-- The processes that serve a database which several may serve. Each adds to its beats every few
-- seconds; what one has begun whose beats have stopped is ended by another.
CREATE TABLE processes (
    id    TEXT    NOT NULL PRIMARY KEY,
    beats INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
ALTER TABLE calls ADD COLUMN held_by TEXT NOT NULL DEFAULT '';  -- id of the process that carries it out
