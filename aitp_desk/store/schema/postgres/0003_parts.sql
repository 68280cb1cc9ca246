-- The tables that retention empties by age alone are partitioned, so that it drops what is large and
-- old: the audit log by its numbers, folded turns by the ids of their threads, which grow with time.
-- Both begin with one part, which takes any row; all rows so far are in it, and none is moved or read.
--
-- Retention cuts the newest part when it has become large: from then on it ends above its last row,
-- and a new part takes what follows. So no part has to be made ahead, and a row always has a place.
-- A part goes when all its rows are due. Rows of a part that was cut wait for that, two days or a
-- sixteenth of the time that rows are kept; those of a table that was never cut are deleted by
-- themselves, as in SQLite. A statement that names no key asks every part, so there are few: each has
-- a day, or a thirty-second part of that time.

ALTER TABLE audit RENAME TO audit_1;
ALTER INDEX audit_pkey RENAME TO audit_1_pkey;
DROP TRIGGER audit_rows_stay ON audit_1;
DROP TRIGGER audit_rows_go_from_the_start ON audit_1;
CREATE TABLE audit (LIKE audit_1) PARTITION BY RANGE (n);
ALTER TABLE audit ADD PRIMARY KEY (n);
ALTER TABLE audit ATTACH PARTITION audit_1 FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
CREATE TRIGGER audit_rows_stay BEFORE UPDATE ON audit
FOR EACH ROW EXECUTE FUNCTION refuse_to_change_audit();
CREATE TRIGGER audit_rows_go_from_the_start BEFORE DELETE ON audit
FOR EACH ROW EXECUTE FUNCTION refuse_to_drop_audit();

ALTER TABLE folded_turns RENAME TO folded_turns_1;
ALTER INDEX folded_turns_pkey RENAME TO folded_turns_1_pkey;
ALTER INDEX folded_turns_of_session RENAME TO folded_turns_1_of_session;
CREATE TABLE folded_turns (LIKE folded_turns_1) PARTITION BY RANGE (thread_id);
ALTER TABLE folded_turns ADD PRIMARY KEY (thread_id);
CREATE INDEX folded_turns_of_session ON folded_turns (session_id) WHERE session_id IS NOT NULL;
ALTER TABLE folded_turns ATTACH PARTITION folded_turns_1 FOR VALUES FROM (MINVALUE) TO (MAXVALUE);

-- Lists the parts of a table, the oldest first, and which one takes new rows.
CREATE FUNCTION list_parts(whole TEXT) RETURNS TABLE (part TEXT, is_open BOOLEAN)
LANGUAGE sql STABLE AS $$
    SELECT c.relname::text, pg_get_expr(c.relpartbound, c.oid) LIKE '%TO (MAXVALUE)'
    FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
    WHERE i.inhparent = whole::regclass
    ORDER BY substring(c.relname FROM '[0-9]+$')::bigint
$$;

-- Locks a table against everybody, if that is possible at once: a backup or a check may read it for
-- hours, and must not lose a part meanwhile. Returns whether it was.
CREATE FUNCTION lock_parts(whole TEXT) RETURNS BOOLEAN LANGUAGE plpgsql AS $$
DECLARE
    usual TEXT := current_setting('lock_timeout');
    is_locked BOOLEAN := true;
BEGIN
    PERFORM set_config('lock_timeout', '300ms', true);
    BEGIN
        EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', whole);
    EXCEPTION WHEN lock_not_available THEN
        is_locked := false;
    END;
    PERFORM set_config('lock_timeout', usual, true);
    RETURN is_locked;
END $$;

-- Returns for how long rows are kept, in seconds, if those of before a time are due.
CREATE FUNCTION time_kept(whole TEXT, key TEXT, clock TEXT, since BIGINT) RETURNS BIGINT
LANGUAGE plpgsql AS $$
DECLARE
    newest BIGINT;
BEGIN
    EXECUTE format('SELECT %I FROM %I ORDER BY %I DESC LIMIT 1', clock, whole, key) INTO newest;
    RETURN greatest(0, coalesce(newest, since) - since);
END $$;

-- Cuts the newest part of a table above its last row, where it has become large: 64 MB and its share
-- of the time, or 2 GB. The server reads the part once, to see that all its rows are below the cut, and everybody
-- waits; so one of more than 4 GB is left alone. All three are multiples of the setting
-- aitp_desk.part_bytes. ``above`` is an expression for the place of the cut.
CREATE FUNCTION cut_large_part(
    whole TEXT, key TEXT, clock TEXT, above TEXT, since BIGINT
) RETURNS BOOLEAN LANGUAGE plpgsql AS $$
DECLARE
    small BIGINT := coalesce(nullif(current_setting('aitp_desk.part_bytes', true), ''), '67108864');
    large_part TEXT := (SELECT part FROM list_parts(whole) WHERE is_open);
    bytes BIGINT := pg_relation_size(large_part::regclass);
    bounds TEXT;
    oldest BIGINT;
    newest RECORD;
BEGIN
    IF bytes < small OR bytes > 64 * small THEN
        RETURN false;
    END IF;
    EXECUTE format('SELECT %I FROM %I ORDER BY %I LIMIT 1', clock, large_part, key) INTO oldest;
    EXECUTE format(
        'SELECT (%s)::text AS place, %I AS at FROM %I ORDER BY %I DESC LIMIT 1',
        above, clock, large_part, key
    ) INTO newest;
    IF newest.at IS NULL OR bytes < 32 * small
        AND newest.at - oldest < greatest(86400, time_kept(whole, key, clock, since) / 32)
    THEN
        RETURN false;
    END IF;
    IF NOT lock_parts(whole) THEN
        RETURN false;
    END IF;
    bounds := (SELECT pg_get_expr(relpartbound, oid) FROM pg_class WHERE oid = large_part::regclass);
    EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', whole, large_part);
    EXECUTE format(
        'ALTER TABLE %I ATTACH PARTITION %I %s', whole, large_part,
        replace(bounds, 'TO (MAXVALUE)', format('TO (%L)', newest.place))
    );
    EXECUTE format(
        'CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (MAXVALUE)',
        whole || '_' || substring(large_part FROM '[0-9]+$')::bigint + 1, whole, newest.place
    );
    RETURN true;
END $$;

-- Finds the last row of the audit log that is due with all before it, and how many these are: those
-- of whole parts, and up to ``most`` more. Cuts a large part before that.
CREATE FUNCTION cut_audit(since BIGINT, most BIGINT)
RETURNS TABLE (last_n BIGINT, last_link BYTEA, due BIGINT) LANGUAGE plpgsql AS $$
DECLARE
    one RECORD;
    newest RECORD;
    held RECORD;
    upto BIGINT := 0;
    counted BIGINT := 0;
    is_awaited BOOLEAN := false;
    patience BIGINT;
BEGIN
    PERFORM cut_large_part('audit', 'n', 'at', 'n + 1', since);
    patience := greatest(2 * 86400, time_kept('audit', 'n', 'at', since) / 16);
    FOR one IN SELECT part FROM list_parts('audit') WHERE NOT is_open LOOP
        EXECUTE format('SELECT n, at FROM %I ORDER BY n DESC LIMIT 1', one.part) INTO newest;
        CONTINUE WHEN newest.n IS NULL;
        IF newest.at >= since THEN
            is_awaited := newest.at < since + patience;
            EXIT;
        END IF;
        EXECUTE format('SELECT max(at) AS at, count(*) AS number FROM %I', one.part) INTO held;
        EXIT WHEN held.at >= since;
        upto := newest.n;
        counted := counted + held.number;
    END LOOP;
    IF counted > 0 AND NOT lock_parts('audit') THEN
        RETURN;
    END IF;
    IF NOT is_awaited THEN
        SELECT max(n) AS n, count(*) AS number INTO held FROM (
            SELECT n, max(at) OVER (ORDER BY n) AS latest FROM (
                SELECT n, at FROM audit WHERE n > upto ORDER BY n LIMIT most
            ) AS further
        ) AS dated WHERE latest < since;
        upto := coalesce(held.n, upto);
        counted := counted + held.number;
    END IF;
    RETURN QUERY SELECT n, link, counted FROM audit WHERE n = upto;
END $$;

-- Drops the parts of the audit log that end with a row or before it, and deletes the other rows up
-- to it. Returns its number.
CREATE FUNCTION drop_audit(upto BIGINT) RETURNS BIGINT LANGUAGE plpgsql AS $$
DECLARE
    one RECORD;
    goes_on BOOLEAN;
BEGIN
    FOR one IN SELECT part FROM list_parts('audit') WHERE NOT is_open LOOP
        EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I WHERE n > $1)', one.part)
        INTO goes_on USING upto;
        EXIT WHEN goes_on OR NOT lock_parts('audit');
        EXECUTE format('DROP TABLE %I', one.part);
    END LOOP;
    DELETE FROM audit WHERE n <= upto;
    RETURN upto;
END $$;

-- Drops the parts of folded turns that are due, and deletes up to ``most`` other rows that are.
-- Returns how many rows these were. Cuts a large part before that.
CREATE FUNCTION drop_old_folded(opened_before TEXT, since BIGINT, most BIGINT) RETURNS BIGINT
LANGUAGE plpgsql AS $$
DECLARE
    one RECORD;
    newest RECORD;
    held RECORD;
    dropped BIGINT := 0;
    deleted BIGINT;
    upto TEXT := opened_before;
    patience BIGINT;
BEGIN
    PERFORM cut_large_part('folded_turns', 'thread_id', 'last_at', 'concat(thread_id, 0)', since);
    patience := greatest(2 * 86400, time_kept('folded_turns', 'thread_id', 'last_at', since) / 16);
    FOR one IN SELECT part FROM list_parts('folded_turns') WHERE NOT is_open LOOP
        EXECUTE format(
            'SELECT thread_id, last_at FROM %I ORDER BY thread_id DESC LIMIT 1', one.part
        ) INTO newest;
        IF newest.thread_id >= opened_before OR newest.last_at >= since THEN
            IF newest.last_at < since + patience THEN
                EXECUTE format('SELECT min(thread_id) FROM %I', one.part) INTO upto;
            END IF;
            EXIT;
        END IF;
        EXECUTE format('SELECT max(last_at) AS at, count(*) AS number FROM %I', one.part) INTO held;
        CONTINUE WHEN held.at >= since;
        IF NOT lock_parts('folded_turns') THEN
            RETURN dropped;
        END IF;
        EXECUTE format('DROP TABLE %I', one.part);
        dropped := dropped + held.number;
    END LOOP;
    DELETE FROM folded_turns WHERE thread_id IN (
        SELECT thread_id FROM folded_turns
        WHERE thread_id < opened_before AND thread_id < upto AND last_at < since
        ORDER BY thread_id LIMIT most
    );
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN dropped + deleted;
END $$;
