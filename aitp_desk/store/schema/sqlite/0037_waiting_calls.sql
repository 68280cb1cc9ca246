-- Calls that wait are looked for by when their time has passed.

CREATE INDEX calls_that_wait ON calls (expires_at) WHERE state = 'waiting_input';
