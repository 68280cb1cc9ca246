-- The processes that serve the database. Each adds to its beats every few seconds; what one has begun
-- whose beats have stopped is ended by another.
CREATE TABLE processes (
    id    TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    beats BIGINT NOT NULL
);
ALTER TABLE calls ADD COLUMN held_by TEXT COLLATE "C" NOT NULL DEFAULT '';
