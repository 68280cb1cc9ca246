"""The whole desk asked by schemathesis, by its OpenAPI document: nothing undescribed comes back."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

import pytest

from tests.support.clients.threads import talking
from tests.support.sites.shop import make_shop

pytestmark = [pytest.mark.asyncio, pytest.mark.servers]

CHECKS = (
    "status_code_conformance",
    "not_a_server_error",
    "content_type_conformance",
    "response_schema_conformance",
)
SETTINGS = ("oauth.registration.enabled=true", "files.anonymous=true")
STREAMS = r"/(?:events|live)$"
"""Addresses whose answers do not end."""


def failures(output: str) -> str:
    """What a run of schemathesis says has failed: no line at length, no warnings."""
    told = re.split(r"^=+ (?:ERRORS|FAILURES) =+$", output, maxsplit=1, flags=re.MULTILINE)[-1]
    told, _, _ = told.partition("= WARNINGS =")
    return "\n".join(line[:300] for line in told.splitlines())


@pytest.mark.parametrize("scopes", [(), ("threads", "actions")], ids=["stranger", "caller"])
async def test_no_answer_is_other_than_the_document_says(
    tmp_path: Path, scopes: tuple[str, ...]
) -> None:
    site = make_shop(tmp_path)
    async with talking(tmp_path, *SETTINGS, site=site) as talker:
        caller = await talker.with_key(*scopes) if scopes else talker
        key = [] if caller.key is None else ["--header", f"Authorization: Bearer {caller.key}"]
        program = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "schemathesis.cli", "run"),
            talker.desk.url + "/openapi.json",
            *("--checks", ",".join(CHECKS)),
            *("--phases", "examples,coverage,fuzzing", "--max-examples", "2"),
            *("--exclude-path-regex", STREAMS),
            *("--request-timeout", "10", "--seed", "1", "--continue-on-failure", "--no-color"),
            *key,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            cwd=tmp_path,
            env={**os.environ, "SCHEMATHESIS_HOOKS": ""},
        )
        output = (await program.communicate())[0].decode()
    asked = re.search(r"(\d+) generated", output)
    assert program.returncode == 0, failures(output)
    assert asked is not None
    assert int(asked[1]) > 3000
