-- audit_head: Reads the number and link of the newest row of the audit log.
SELECT n, link FROM audit WHERE n = (SELECT max(n) FROM audit);

-- audit_anchor: Reads the number and link of the newest row of the audit log that was dropped.
SELECT n, link FROM audit_anchor ORDER BY n;

-- add_audit: Adds a row to the audit log.
INSERT INTO audit (n, at, principal, proven_by, action, object, outcome, count, link)
VALUES (:n, :at, :principal, :proven_by, :action, :object, :outcome, :count, :link);

-- audit_rows: Lists the oldest rows of the audit log from one on. Texts are returned as bytes, so
-- that invalid text can be detected.
SELECT n, at, CAST(principal AS BLOB), CAST(proven_by AS BLOB), CAST(action AS BLOB),
       CAST(object AS BLOB), CAST(outcome AS BLOB), count, link
FROM audit WHERE n >= :start ORDER BY n LIMIT :limit;
