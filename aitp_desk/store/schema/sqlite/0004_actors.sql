-- Actors join and leave. A row is one stay of an actor on its thread; who comes back has another.
ALTER TABLE actors ADD COLUMN joined_event INTEGER NOT NULL DEFAULT 0;  -- 0: there from the start
ALTER TABLE actors ADD COLUMN left_event INTEGER;   -- number of the event that it left; NULL: there
ALTER TABLE actors ADD COLUMN left_seq INTEGER;     -- the newest message then
CREATE INDEX actors_of_principal ON actors (thread_id, principal) WHERE principal IS NOT NULL;
