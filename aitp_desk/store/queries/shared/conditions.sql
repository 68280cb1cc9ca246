-- keep_condition: Stores the condition of a component, and since when it holds.
INSERT INTO conditions (name, state, since) VALUES (:name, :state, :since)
ON CONFLICT (name) DO UPDATE SET state = excluded.state, since = excluded.since;

-- conditions: Reads the last condition of every component; there are few.
SELECT name, state, since FROM conditions;
