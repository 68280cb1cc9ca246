"""One target under libFuzzer: `python -m tests.fuzz.libfuzzer TARGET OPTIONS…`; see `run.py`."""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["aitp_desk"]):
    from tests.fuzz.targets import TARGETS


def main() -> None:
    """Run the target until its executions are over or one fails."""
    name = sys.argv.pop(1)
    target = next(target for target in TARGETS if target.name == name)
    atheris.Setup(sys.argv, target.holds)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
