-- Calls that were made on no thread are looked for by when they were over.

CREATE INDEX calls_on_no_thread ON calls (coalesce(ended_at, expires_at)) WHERE thread_id IS NULL;
