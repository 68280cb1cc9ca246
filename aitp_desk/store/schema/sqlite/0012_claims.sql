-- When an anonymous thread became somebody's, Unix seconds; NULL: it has no owner, or one from the
-- start.
ALTER TABLE threads ADD COLUMN claimed_at INTEGER;
