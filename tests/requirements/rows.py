"""The requirements of the five source documents, as typed rows.

One TOML file a specification stands next to this module. A row says what the document asks, whom
it binds, and whether the desk serves it now, later (`deferred`) or knowingly in another way
(`divergence`). `test_coverage.py` ties the rows to the tests that carry their ids.
"""

from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec

HERE: Final = Path(__file__).parent

PREFIXES: Final = {
    "ahp": "AHP",
    "ahp_whitepaper": "AHPW",
    "aitp": "AITP",
    "hac": "HAC",
    "agents_txt": "AGT",
}
"""What the ids of each file begin with, by file name."""

Sentence = Annotated[str, msgspec.Meta(min_length=1, pattern=r"^\S.*\S$|^\S$")]
Level = Literal["MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY", "IS"]


class Requirement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing that a document asks.

    `level` is the RFC 2119 word in force (REQUIRED counts as MUST, RECOMMENDED as SHOULD, OPTIONAL
    as MAY), or IS where the document states behaviour without such a word. `sentence` is verbatim
    text of one line, from anywhere in that line; a "…" at its end means that it was cut.
    """

    id: Sentence
    section: Sentence
    level: Level
    binds: Literal["site", "agent"]
    sentence: Sentence
    deferred: Sentence | None = None
    divergence: Sentence | None = None


class NotRequirement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A passage that holds an RFC 2119 word and asks nothing of a site or an agent, and why."""

    sentence: Sentence
    why: Sentence


class Specification(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All rows of one source document; `source` is its file name below `specs/`."""

    source: Sentence
    requirements: list[Requirement] = msgspec.field(name="requirement")
    not_requirements: list[NotRequirement] = []


def load(name: str) -> Specification:
    """Read one specification's rows.

    Args:
        name: a key of `PREFIXES`, the file's name without its ending.

    Raises:
        msgspec.ValidationError: a field is unknown, missing, empty or of the wrong type.
    """
    return msgspec.toml.decode((HERE / f"{name}.toml").read_bytes(), type=Specification)
