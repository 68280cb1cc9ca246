"""The contents that the contract suite runs on: the database of each engine, and a bucket."""

from __future__ import annotations

from pathlib import Path

import pytest

from aitp_desk.config import Files
from aitp_desk.store.base import Store
from aitp_desk.store.contents.base import FileContents
from aitp_desk.store.contents.kinds import open_contents
from tests.support.doubles.agent import Clock
from tests.support.store.messages import NOW
from tests.support.store.s3_process import ACCESS_KEY, S3Process
from tests.unit.store.conftest import database, engine, open_database, rows, store

__all__ = ["database", "engine", "open_database", "rows", "store"]

BUCKET = pytest.param("bucket", marks=pytest.mark.servers)


@pytest.fixture
def clock() -> Clock:
    clock = Clock()
    clock.now = NOW
    return clock


@pytest.fixture
def bucket(s3_server: S3Process, store: Store, clock: Clock) -> FileContents:
    """Contents in a bucket."""
    return open_contents(s3_server.files, store, folder=Path(), environment=ACCESS_KEY, clock=clock)


@pytest.fixture(params=["database", BUCKET])
def contents(request: pytest.FixtureRequest, store: Store, clock: Clock) -> FileContents:
    """Contents of each kind."""
    if request.param == "bucket":
        found: FileContents = request.getfixturevalue("bucket")
        return found
    return open_contents(Files(), store, folder=Path(), environment={}, clock=clock)
