"""Fixtures that every test may use."""

import os
from pathlib import Path

import pytest

from tests.shared import find_shared_folder


@pytest.fixture(scope="session")
def shared_folder() -> Path:
    """The folder of outside reference data; skips or fails as `find_shared_folder` says."""
    return find_shared_folder(os.environ.get("AITP_DESK_SHARED"))
