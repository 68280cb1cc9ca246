-- How many tickets were made, and how they ended after what time; counted by the database itself, for
-- people end them from the command line as well. An erasure that closes one does not count.
CREATE TABLE ticket_tallies (
    kind    TEXT    NOT NULL,
    how     TEXT    NOT NULL,  -- made, or the state in which they ended
    within  INTEGER NOT NULL,  -- seconds that they waited at most; 0: longer than all, or just made
    tickets INTEGER NOT NULL,
    seconds INTEGER NOT NULL,  -- that they waited together
    PRIMARY KEY (kind, how, within)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER ticket_made AFTER INSERT ON tickets
BEGIN
    INSERT INTO ticket_tallies (kind, how, within, tickets, seconds)
    VALUES (NEW.kind, 'made', 0, 1, 0)
    ON CONFLICT (kind, how, within) DO UPDATE SET tickets = tickets + 1;
END;
CREATE TRIGGER ticket_ended AFTER UPDATE OF ended_at ON tickets
WHEN OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL
BEGIN
    INSERT INTO ticket_tallies (kind, how, within, tickets, seconds)
    SELECT NEW.kind, NEW.state,
        CASE
            WHEN waited <= 60 THEN 60
            WHEN waited <= 300 THEN 300
            WHEN waited <= 900 THEN 900
            WHEN waited <= 3600 THEN 3600
            WHEN waited <= 14400 THEN 14400
            WHEN waited <= 86400 THEN 86400
            WHEN waited <= 259200 THEN 259200
            WHEN waited <= 604800 THEN 604800
            ELSE 0
        END,
        1, waited
    FROM (SELECT max(0, NEW.ended_at - NEW.created_at) AS waited) WHERE true
    ON CONFLICT (kind, how, within)
    DO UPDATE SET tickets = tickets + 1, seconds = seconds + excluded.seconds;
END;
