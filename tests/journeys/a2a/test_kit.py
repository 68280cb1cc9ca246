"""The script that runs A2A's compatibility kit hands it a desk, and gives back what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.clients.a2a_tck import RUNNER, run

KIT = """\
import json, pathlib, sys, urllib.request
assert sys.argv[1] == "{option}"
card = json.load(urllib.request.urlopen(sys.argv[2] + "/.well-known/agent-card.json"))
versions = [one["protocolVersion"] for one in card["supportedInterfaces"]]
pathlib.Path("said.json").write_text(json.dumps([versions, sys.argv[3:]]))
sys.exit(7)
"""


@pytest.mark.parametrize(
    ("option", "card", "said"),
    [
        ("--sut-host", "1.0", '[["1.0", "1.0"], ["--level", "must"]]'),
        ("--sut-url", "both", '[["1.0", "1.0", "0.3", "0.3"], ["--level", "must"]]'),
    ],
)
async def test_the_kit_is_given_a_desk_and_its_arguments(
    tmp_path: Path, option: str, card: str, said: str
) -> None:
    (tmp_path / RUNNER).write_text(KIT.format(option=option), "utf-8")
    assert await run(tmp_path, card, ["--level", "must"]) == 7
    assert (tmp_path / "said.json").read_text("utf-8") == said
