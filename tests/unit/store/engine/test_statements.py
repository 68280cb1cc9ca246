"""Statements are data with names; migrations are numbered files."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from aitp_desk import store
from aitp_desk.store.base import StoreChanged, StoreError
from aitp_desk.store.engine import migration as migrate
from aitp_desk.store.engine.migration import load_migrations
from aitp_desk.store.engine.statements import QUERIES, load_statements

STORE = Path(store.__file__).parent


def names_in_code() -> set[str]:
    """Every quoted word of the units and reads: the names that they yield are among them."""
    sources = [path for folder in ("units", "reads") for path in (STORE / folder).rglob("*.py")]
    return {
        name for path in sources for name in re.findall(r'"([a-z_]+)"', path.read_text("utf-8"))
    }


def test_every_statement_is_used() -> None:
    assert set(load_statements("sqlite")) <= names_in_code()


def test_every_statement_is_understood_by_sqlite() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        migrate.migrate(database, now=0)
        for name, sql in load_statements("sqlite").items():
            parameters = dict.fromkeys(re.findall(r":([a-z_]+)", sql))
            assert database.execute(f"EXPLAIN {sql}", parameters).fetchall(), name


WALKED_WHOLE = {
    "audit_anchor": {"audit_anchor"},
    "count_folded_between": {"counted"},  # as far as its bound
    "count_said_between": {"counted"},  # as far as its bound
    "count_tickets_made": {"made"},  # as far as its bound
    "count_dead_jobs": {"dead"},  # a hundred at most, which it has gathered itself
    "calls_cut_short": {"calls_at_work"},  # what is at work
    "calls_held": {"calls_at_work"},  # what is at work
    "data_keys": {"sqlite_autoindex_data_keys_1"},
    "delete_other_wrappings": {"data_keys"},
    "erase_once": {"idempotency"},  # a day's keys
    "personal_once_on_thread": {"idempotency"},  # the same
    "events": {"said", "happened"},  # its own two parts, bounded before
    "forget_moot_revocations": {"revoked_jwts"},  # what the owner has revoked in two days
    "forget_summaries_of_forks": {"f", "forks"},  # what it has gathered itself
    "job_principals": {
        "principals",
        "first_one",
    },  # a caller who has asked for what is not over, a look each
    "job_principals_in_order": {"principals", "first_one"},  # the same
    "clients": {"clients"},
    "forks_after": {"f", "forks"},
    "add_to_open_notes": {"tickets_waiting"},
    "end_waiting_calls": {"calls"},  # once, while a backup is put back
    "ticket_tallies": {"ticket_tallies"},  # a row for each way in which one ends
    "tickets_waiting": {"tickets_waiting", "waiting"},  # bounded before it is counted
    "conditions": {"conditions"},  # a handful, by the names of its owner
    "old_audit": {"oldest", "dated", "(subquery-4)", "(subquery-5)"},  # bounded before
    "processes": {"processes"},  # those that serve, a handful
    "schedules": {"schedules"},  # a handful, and no more ever
    "drop_jobs_of_principal": {"jobs"},  # a day's, and what was given up in a month
    "move_audit_anchor": {"audit_anchor"},
    "release_jobs_of_dead": {"jobs_of_asker"},  # what waits or is at work
    "release_schedules_of_dead": {"schedules"},  # a handful, and no more ever
    "is_keyed": {  # one row of each at most
        "ROW",
        "sqlite_autoindex_tokens_1",
        "sqlite_autoindex_clients_1",
        "audit",
        "idempotency_by_age",
        "files_counted",
    },
    "live_token": {"tokens_live_name"},
    "revoke_all_clients": {"clients"},
    "revoke_all_tokens": {"tokens_live_name"},
    "jobs_not_over": {"jobs_of_asker", "pending"},  # as far as its bound
    "newest_refused": {"said"},  # as far as its bound
    "runs_not_over": {"runs_waiting", "waiting", "held"},  # as far as its bound
    "signing_keys": {"signing_keys"},
    "delete_all_sealed": {"sealed_by_age"},  # once, where the data keys are begun again
    "threads_of_waiting_tickets": {"tickets_waiting"},  # as far as its bound
    "threads_taken": {"thread_operators"},  # as far as its bound
    "tickets_waiting_now": {"tickets_waiting", "pending"},  # as far as its bound
    "tokens": {"tokens"},
    "end_transcript_keys": {"transcript_keys"},  # one for each data key
    "transcript_keys": {"transcript_keys"},
}
"""What a statement may walk from end to end, because it stays small."""


def test_no_statement_walks_through_what_grows() -> None:
    walked: dict[str, set[str]] = {}
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        migrate.migrate(database, now=0)
        for name, sql in load_statements("sqlite").items():
            parameters = dict.fromkeys(re.findall(r":([a-z_]+)", sql))
            plan = database.execute(f"EXPLAIN QUERY PLAN {sql}", parameters).fetchall()
            scans = {step.split()[-1] for *_, step in plan if step.startswith("SCAN ")}
            if scans:
                walked[name] = scans
    assert walked == WALKED_WHOLE


def test_shared_statements_keep_to_what_both_engines_read() -> None:
    for path in (QUERIES / "shared").rglob("*.sql"):
        text = path.read_text("utf-8").lower()
        for only_one_reads in ("::", "rowid", "insert or ", "json_", "strftime", "ifnull", "?"):
            assert only_one_reads not in text.replace("-- ", ""), (path.name, only_one_reads)


def test_an_engines_own_statement_replaces_the_shared_one(tmp_path: Path) -> None:
    for folder in ("shared", "sqlite"):
        (tmp_path / folder).mkdir()
    (tmp_path / "shared" / "a.sql").write_text(
        "-- one: Says one.\nSELECT 1;\n\n-- two: Says two.\nSELECT 2;\n"
    )
    (tmp_path / "sqlite" / "a.sql").write_text("-- two: Says two.\n-- At length.\nSELECT\n  22;\n")
    assert load_statements("sqlite", tmp_path) == {"one": "SELECT 1", "two": "SELECT\n  22"}
    assert load_statements("postgres", tmp_path) == {"one": "SELECT 1", "two": "SELECT 2"}


def test_columns_that_stand_once_stand_in_every_statement(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "a.sql").write_text(
        "-- columns of_a: Whose.\nid,\n  name;\n\n-- one: Says one.\nSELECT {of_a} FROM a;\n"
        "-- two: Says two.\nUPDATE a SET name = '{}' RETURNING {of_a};\n"
    )
    assert load_statements("sqlite", tmp_path) == {
        "one": "SELECT id,\n  name FROM a",
        "two": "UPDATE a SET name = '{}' RETURNING id,\n  name",
    }


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1;",
        "-- one: Says one.\nSELECT 1;\n-- one: Says one.\nSELECT 1;",
        "-- columns a: Whose.\nid;\n-- columns a: Whose.\nid;",
        "-- one: Says one.\nSELECT {of_a} FROM a;",
    ],
)
def test_a_statement_without_a_name_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "a.sql").write_text(text)
    with pytest.raises(ValueError, match=r"a\.sql"):
        load_statements("sqlite", tmp_path)


def test_a_name_in_two_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    for name in ("a.sql", "b.sql"):
        (tmp_path / "shared" / name).write_text("-- one: Says one.\nSELECT 1;")
    with pytest.raises(ValueError, match="one is defined twice"):
        load_statements("sqlite", tmp_path)


class TestMigrations:
    def apply(self, folder: Path, database: Path) -> int:
        with closing(sqlite3.connect(database, isolation_level=None)) as connection:
            return migrate.migrate(connection, now=0, folder=folder).migrated

    def test_only_what_is_missing_is_applied(self, tmp_path: Path, database: Path) -> None:
        (tmp_path / "0001_a.sql").write_text(
            "CREATE TABLE a (x TEXT); -- a\nINSERT INTO a\nSELECT ';';"
        )
        assert self.apply(tmp_path, database) == 1
        (tmp_path / "0002_b.sql").write_text("CREATE TABLE b (x TEXT);")
        assert self.apply(tmp_path, database) == 1
        assert self.apply(tmp_path, database) == 0

    def test_one_that_fails_leaves_nothing_behind(self, tmp_path: Path, database: Path) -> None:
        (tmp_path / "0001_a.sql").write_text("CREATE TABLE a (x TEXT);")
        (tmp_path / "0002_b.sql").write_text("CREATE TABLE a (x TEXT);")
        with pytest.raises(sqlite3.OperationalError):
            self.apply(tmp_path, database)
        with closing(sqlite3.connect(database)) as connection:
            assert connection.execute("SELECT name FROM sqlite_schema").fetchall() == []

    def test_a_gap_between_files_is_refused(self, tmp_path: Path) -> None:
        for name in ("0001_a.sql", "0003_c.sql"):
            (tmp_path / name).write_text("")
        with pytest.raises(StoreError, match=r"0003_c\.sql"):
            load_migrations(tmp_path)

    def test_a_gap_in_the_database_is_refused(self, tmp_path: Path, database: Path) -> None:
        for name in ("0001_a.sql", "0002_b.sql"):
            (tmp_path / name).write_text("-- nothing\n")
        self.apply(tmp_path, database)
        with closing(sqlite3.connect(database)) as connection, connection:
            connection.execute("DELETE FROM migrations WHERE number = 1")
        with pytest.raises(StoreChanged, match="lacks migration 0001"):
            self.apply(tmp_path, database)
