-- When the events of a deleted thread were deleted. Those who follow a thread read its end from them;
-- a day later they go. The index names no column that a message changes, so that it costs none.
ALTER TABLE threads ADD COLUMN pruned_at BIGINT;
CREATE INDEX threads_to_prune ON threads (deleted_at)
    WHERE deleted_at IS NOT NULL AND pruned_at IS NULL;
