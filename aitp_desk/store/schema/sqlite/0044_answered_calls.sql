-- What was answered to what a call waits for, until the call goes on by that.
ALTER TABLE calls ADD COLUMN answer TEXT;  -- JSON
CREATE INDEX calls_answered ON calls (thread_id) WHERE answer IS NOT NULL;
