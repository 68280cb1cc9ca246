"""A constructor takes at most eight parameters: docs/contribute/contributing.md, "Names"."""

from pathlib import Path

from tests.architecture.sources import sources

MAX_PARAMETERS = 8
PACKAGE = Path("aitp_desk")
COMPOSITION_ROOT = PACKAGE / "app"


def test_no_constructor_takes_more_parameters_than_one_keeps_in_mind() -> None:
    crowded = {
        f"{source.path}:{name}": count
        for source in sources()
        if PACKAGE in source.path.parents and COMPOSITION_ROOT not in source.path.parents
        for name, count in source.constructors
        if count > MAX_PARAMETERS
    }
    assert crowded == {}
