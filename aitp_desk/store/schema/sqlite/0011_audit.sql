-- The audit log (model/audit.py): who did what to which object, and what came of it. Times are Unix
-- seconds. Rows are added and never changed; the oldest are dropped in one piece when they have had
-- their time.
CREATE TABLE audit (
    n         INTEGER NOT NULL PRIMARY KEY,  -- from 1, without gaps
    at        INTEGER NOT NULL,
    principal TEXT    NOT NULL,
    proven_by TEXT    NOT NULL,
    action    TEXT    NOT NULL,
    object    TEXT    NOT NULL,
    outcome   TEXT    NOT NULL,
    count     INTEGER NOT NULL,
    link      BLOB    NOT NULL
) STRICT;

-- The newest row that was dropped, which the first that is left is linked to. One row.
CREATE TABLE audit_anchor (
    n    INTEGER NOT NULL PRIMARY KEY,       -- 0: none was dropped
    link BLOB    NOT NULL
) STRICT;
INSERT INTO audit_anchor (n, link)
VALUES (0, x'0000000000000000000000000000000000000000000000000000000000000000');

-- These stop mistakes, not somebody who may write to the file: against that there is the chain.
CREATE TRIGGER audit_rows_stay BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'a row of the audit log is never changed'); END;
CREATE TRIGGER audit_rows_go_from_the_start BEFORE DELETE ON audit
WHEN OLD.n > (SELECT max(n) FROM audit_anchor)
BEGIN SELECT RAISE(ABORT, 'a row of the audit log is dropped with all before it'); END;
