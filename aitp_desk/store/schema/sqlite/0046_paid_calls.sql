-- What is paid for a call before it is made, and by which name that is paid.
ALTER TABLE calls ADD COLUMN payment TEXT;  -- JSON
ALTER TABLE calls ADD COLUMN quote_id TEXT;
CREATE INDEX calls_quoted ON calls (quote_id) WHERE quote_id IS NOT NULL;
CREATE INDEX calls_unpaid ON calls (expires_at) WHERE state = 'waiting_payment';

-- What outlives a thread may wait for an answer there, as a quote does.
ALTER TABLE capability_records ADD COLUMN open_on TEXT;  -- the thread; NULL: on none
UPDATE capability_records SET open_on = thread_id WHERE open_until IS NOT NULL;
CREATE INDEX capability_records_open_on ON capability_records (open_on, open_until)
    WHERE open_until IS NOT NULL;
DROP INDEX capability_records_open;
