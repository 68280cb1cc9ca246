"""What a schema is called, and which version of it is meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.desk.plugins.registry import SchemaName, parse_schema_name

HOSTS = st.from_regex(r"[a-z]{1,8}\.(dev|example)", fullmatch=True)
PATHS = st.lists(st.from_regex(r"[a-uw-z][a-z0-9-]{0,8}", fullmatch=True), min_size=1, max_size=3)
VERSIONS = st.integers(0, 99_999)


@pytest.mark.parametrize(
    ("text", "name", "version"),
    [
        ("aitp.dev/requests", "aitp.dev/requests", None),
        ("https://aitp.dev/v1/payment.schema.json", "aitp.dev/payment", 1),
        ("https://aitp.dev/v1/requests/schema.json", "aitp.dev/requests", 1),
        (
            "https://aitp.dev/capabilities/aitp-02-decisions/v1.0.0/schema.json",
            "aitp.dev/capabilities/aitp-02-decisions",
            1,
        ),
        (
            "http://desk.example:8080/capabilities/x/v12/schema.json",
            "desk.example:8080/capabilities/x",
            12,
        ),
        (" HTTPS://AITP.dev/Data/ ", "aitp.dev/Data", None),
        ("https://desk.example/x/v1beta/schema.json", "desk.example/x/v1beta", None),
        ("https://desk.example/v123456/schema.json", "desk.example/v123456", None),
        ("", "", None),
    ],
)
def test_a_name_is_read_with_its_version(text: str, name: str, version: int | None) -> None:
    assert parse_schema_name(text) == SchemaName(name, version)


@given(HOSTS, PATHS, VERSIONS, st.sampled_from(["", ".0", ".0.0", ".12.3"]))
def test_wherever_the_version_stands_the_name_is_the_same(
    host: str, path: list[str], version: int, rest: str
) -> None:
    expected = SchemaName("/".join([host, *path]), version)
    for place in range(len(path) + 1):
        segments = [*path[:place], f"v{version}{rest}", *path[place:]]
        for ending in ("", "/schema.json", ".schema.json"):
            if place < len(path) or ending == "/schema.json":
                address = "/".join(["https://" + host, *segments]) + ending
                assert parse_schema_name(address) == expected


@given(st.text(max_size=80))
def test_any_text_has_a_name_that_is_read_as_itself(text: str) -> None:
    named = parse_schema_name(text)
    assert named.version is None or 0 <= named.version <= 99_999
