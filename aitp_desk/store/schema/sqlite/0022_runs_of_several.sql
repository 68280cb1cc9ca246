-- Whose words a run worked with, however many callers it works for (asked_by): for whoever is erased.

-- id of the principal who began the run, and whose its options are; NULL: nobody known
ALTER TABLE jobs ADD COLUMN started_by TEXT;
UPDATE jobs SET started_by = json_extract(asked_by, '$.id') WHERE asked_by IS NOT NULL;

-- Who handed in what a run's tools gave.
CREATE TABLE run_givers (
    run_id    TEXT NOT NULL REFERENCES jobs (id),
    principal TEXT NOT NULL,
    PRIMARY KEY (run_id, principal)
) STRICT, WITHOUT ROWID;
