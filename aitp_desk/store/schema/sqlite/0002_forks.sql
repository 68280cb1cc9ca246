-- Where a thread forked off another: the newest message of its parent that its opener could read
-- then. What the parent says later is no part of the fork. NULL for a thread without a parent.
ALTER TABLE threads ADD COLUMN parent_seq INTEGER;
