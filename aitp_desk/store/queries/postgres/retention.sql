-- old_audit: Finds the newest row of the audit log before the first that was written since a time,
-- and how many rows these are; whole parts of the table first.
SELECT last_n, last_link, due FROM cut_audit(:before, :limit);

-- drop_audit: Drops the rows of the audit log up to one, where possible as whole parts of the table.
SELECT drop_audit(:n);

-- delete_old_folded: Deletes the oldest folded threads that were not used since a time, where
-- possible as whole parts of the table; the sum of the rows is their number.
SELECT drop_old_folded(:opened_before, :before, :limit);
