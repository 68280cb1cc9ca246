"""Former public names work for one more release, and warn."""

from __future__ import annotations

import importlib
import sys

import pytest


@pytest.mark.parametrize(
    ("former", "name"),
    [("aitp_desk.commands", "desk_data"), ("aitp_desk.protocols.hac.checking", "check_document")],
)
def test_a_former_name_works_and_warns(former: str, name: str) -> None:
    sys.modules.pop(former, None)
    with pytest.warns(DeprecationWarning, match="is now"):
        module = importlib.import_module(former)
    assert callable(getattr(module, name))
