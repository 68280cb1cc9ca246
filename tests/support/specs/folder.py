"""The folder of outside reference data (`specs/`, `schemas/`) that some tests read."""

from pathlib import Path

import pytest


def find_shared_folder(named: str | None) -> Path:
    """The folder that `AITP_DESK_SHARED` names.

    Without a name the test is skipped. A name that leads to no folder fails it, so that a wrong
    path cannot pass for a choice.
    """
    if not named:
        pytest.skip("AITP_DESK_SHARED is not set")
    folder = Path(named)
    if not folder.is_dir():
        pytest.fail(f"AITP_DESK_SHARED names no folder: {named}")
    return folder
