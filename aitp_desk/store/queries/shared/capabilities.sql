-- columns record: The columns of a capability's record.
capability, key, version, value, thread_id, open_until;

-- capability_record: Reads a record.
SELECT {record} FROM capability_records WHERE capability = :capability AND key = :key;

-- capability_counter: Reads a counter.
SELECT value FROM capability_counters WHERE capability = :capability AND key = :key;

-- records_alike: Lists a capability's records whose keys share a prefix, by key.
SELECT key, version, value, updated_at FROM capability_records
WHERE capability = :capability AND key > :after AND key >= :first AND key < :end
ORDER BY key LIMIT :limit;

-- counters_alike: Lists a capability's counters whose names share a prefix, by name.
SELECT key, value FROM capability_counters
WHERE capability = :capability AND key > :after AND key >= :first AND key < :end
ORDER BY key LIMIT :limit;

-- open_records: Lists records that wait for an answer on a thread, the newest first.
SELECT {record} FROM capability_records
WHERE open_on = :thread_id AND open_until > :now
ORDER BY updated_at DESC, capability, key LIMIT :limit;

-- keep_record: Inserts or replaces a record.
INSERT INTO capability_records (
    capability, key, version, value, thread_id, updated_at, open_until, open_on
) VALUES (
    :capability, :key, :version, :value, :thread_id, :now, :open_until, :open_on
) ON CONFLICT (capability, key) DO UPDATE SET
    version = excluded.version, value = excluded.value, thread_id = excluded.thread_id,
    updated_at = excluded.updated_at, open_until = excluded.open_until,
    open_on = excluded.open_on;

-- add_to_counter: Adds to a counter.
INSERT INTO capability_counters (capability, key, value) VALUES (:capability, :key, :delta)
ON CONFLICT (capability, key) DO UPDATE SET value = capability_counters.value + excluded.value;

-- rows since: Those last written on a thread since a time.
thread_id = :thread_id AND updated_at >= :since AND value <> 'null';

-- erase_records_on_thread: Empties records that were last written on a thread since a time.
UPDATE capability_records SET value = 'null', version = version + 1, open_until = NULL
WHERE {since} RETURNING key;

-- close_records_on_thread: Clears the waiting state of records that outlive their thread.
UPDATE capability_records SET open_until = NULL, open_on = NULL
WHERE open_on = :thread_id AND open_until IS NOT NULL AND thread_id IS NULL;

-- personal_records: Lists the records that an erasure of a person empties on a thread.
SELECT capability || ' ' || key, NULL, thread_id, capability, key, value, updated_at
FROM capability_records WHERE {since}
  AND capability || ' ' || key > :after ORDER BY 1 LIMIT :limit;
