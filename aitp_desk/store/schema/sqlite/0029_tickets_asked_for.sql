-- Tickets that visitors ask for, or that stand for a question which the agent could not answer.
ALTER TABLE tickets ADD COLUMN asked_from TEXT;  -- keyed digest of who asked; NULL: not counted
CREATE INDEX tickets_asked_from ON tickets (asked_from)
    WHERE state IN ('open', 'taken') AND asked_from IS NOT NULL;
-- A conversation waits for one person at most.
CREATE UNIQUE INDEX tickets_asked_for ON tickets (thread_id)
    WHERE kind IN ('request', 'question') AND state IN ('open', 'taken');
