-- audit_rows: Lists the oldest rows of the audit log from one on. Texts are returned as bytes, so
-- that invalid text can be detected.
SELECT n, at, convert_to(principal, 'UTF8'), convert_to(proven_by, 'UTF8'),
       convert_to(action, 'UTF8'), convert_to(object, 'UTF8'), convert_to(outcome, 'UTF8'), count,
       link
FROM audit WHERE n >= :start ORDER BY n LIMIT :limit;
