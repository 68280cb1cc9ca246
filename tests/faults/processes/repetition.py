"""A desk that repeats every call that was cut short, as none may: `aitp-desk`, but for that.

What it does twice shows that the proof sees it when something is done twice.
"""

from __future__ import annotations

from unittest.mock import patch

from aitp_desk.cli import main
from aitp_desk.desk.calls.deferral import DeferredCalls
from aitp_desk.model.calls.call import ActionCall


def repeat_all(_self: DeferredCalls, _call: ActionCall) -> bool:
    """Hold everything for repeatable."""
    return True


if __name__ == "__main__":
    with patch.object(DeferredCalls, "is_repeatable", repeat_all):
        main()
