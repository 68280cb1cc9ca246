-- How the server frees what updates leave, table by table; measured by tests/bench/sizes.py.
--
-- Every message moves the end of its thread, every turn its session: their pages keep room, so that
-- the new row is written to the same page and no index changes.
ALTER TABLE threads SET (
    fillfactor = 75, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02
);
ALTER TABLE sessions SET (
    fillfactor = 75, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02
);
-- Queues among what is over: a state changes some times, in indexes that only hold what waits. These
-- are looked through from their start, so they must not fill with rows that no longer wait.
ALTER TABLE runs SET (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500);
ALTER TABLE jobs SET (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500);
ALTER TABLE calls SET (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500);
-- Deleted after a day, as many as are added.
ALTER TABLE idempotency SET (autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE nonces SET (autovacuum_vacuum_scale_factor = 0.05);
-- Only grow: frozen in small portions, not two million rows at once when there are ten.
ALTER TABLE messages SET (autovacuum_vacuum_insert_scale_factor = 0.02);
ALTER TABLE events SET (autovacuum_vacuum_insert_scale_factor = 0.02);
