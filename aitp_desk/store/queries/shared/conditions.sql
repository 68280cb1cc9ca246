-- keep_condition: Writes down how a part of the desk is, and since when.
INSERT INTO conditions (name, state, since) VALUES (:name, :state, :since)
ON CONFLICT (name) DO UPDATE SET state = excluded.state, since = excluded.since;

-- conditions: Reads how all parts were last; they are few.
SELECT name, state, since FROM conditions;
