-- Jobs are taken up in turns: one of each who asked.
CREATE INDEX jobs_of_asker ON jobs (kind, coalesce(principal, ''), available_at, id)
    WHERE state IN ('queued', 'at_work');
