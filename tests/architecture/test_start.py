"""A start imports what a plain desk needs, and leaves the rest to its users."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.desk.processes import desk_command, free_port, serving_process

HEAVY = frozenset(
    {
        "a2a",
        "anthropic",
        "asyncpg",
        "google",
        "html_to_markdown",
        "http_message_signatures",
        "http_sf",
        "imagesize",
        "joserfc",
        "jsonschema_rs",
        "jwt",
        "mcp",
        "obstore",
        "opentelemetry",
        "protego",
        "pydantic",
        "pypdf",
        "slack_sdk",
        "starlette",
        "tinycss2",
        "yaml",
    }
)
"""What only some desks, or some requests, have a use for."""
OURS = frozenset(
    {
        "aitp_data",
        "aitp_desk.actions.declaration.action_builder",
        "aitp_desk.actions.schemas.shape",
        "aitp_desk.actions.declaration.signature",
        "aitp_operations",
        "aitp_requests",
    }
)
"""What of the desk's own only sites with actions or capabilities have a use for."""


def _loaded_by(code: str) -> set[str]:
    """The names of all modules that a new interpreter holds after running this."""
    told = f"{code}\nimport json, sys\nprint(json.dumps(list(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", told], check=True, capture_output=True, text=True)
    return set(json.loads(ran.stdout))


@pytest.mark.slow
def test_the_application_imports_nothing_heavy() -> None:
    loaded = _loaded_by("import aitp_desk.app.server")
    assert "httptools" in loaded
    assert loaded & (HEAVY | OURS | {"aiohttp.web", "markdown_it"}) == set()


def test_a_command_imports_no_other() -> None:
    loaded = _loaded_by(
        "import click\nfrom aitp_desk.cli import main\n"
        "assert main.get_command(click.Context(main), 'serve').name == 'serve'"
    )
    commands = {
        f"aitp_desk.cli.{name}"
        for name in ("audit", "check", "client", "init", "keys", "tickets", "token")
    }
    assert "aitp_desk.cli.commands.serve" in loaded
    assert loaded & commands == set()


@pytest.mark.slow
def test_a_plain_desk_serves_without_what_is_heavy(tmp_path: Path) -> None:
    site = tmp_path / "site"
    (site / "content").mkdir(parents=True)
    (site / "desk.toml").write_text('[site]\nname = "Plain"\ndescription = "A plain desk."\n')
    (site / "content" / "index.md").write_text("---\ntitle: Home\n---\n\nHello there.\n")
    log = tmp_path / "log"
    for _first_indexed_then_reopened in range(2):
        port = free_port()
        command = desk_command(tmp_path / "data", port, folder=site)
        command[1:1] = ["-X", "importtime"]
        log.unlink(missing_ok=True)
        with serving_process(command, port, log=log) as server:
            server.stop()
    imported = {
        line.rpartition("|")[2].strip().partition(".")[0]
        for line in log.read_text(errors="replace").splitlines()
        if line.startswith("import time:")
    }
    assert "aiohttp" in imported
    assert imported & HEAVY == set()
