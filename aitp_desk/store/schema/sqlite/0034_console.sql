-- How many tickets were made and ended within a time, and how long they had been waited for.
CREATE INDEX tickets_made ON tickets (created_at);
CREATE INDEX tickets_ended ON tickets (ended_at, created_at) WHERE ended_at IS NOT NULL;
