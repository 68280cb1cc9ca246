-- A deleted thread keeps its row: its messages' places, digests and links stay, and so does what
-- refers to it. NULL: it is there.
ALTER TABLE threads ADD COLUMN deleted_at INTEGER;
CREATE INDEX sessions_of_thread ON sessions (thread_id);
