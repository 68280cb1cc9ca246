"""The TypeScript declaration of the element, against what the component's modules do."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from aitp_desk.web.widget.assets import COMPONENT, DECLARATION, LOADER

DECLARED = (COMPONENT / DECLARATION).read_text("utf-8")
SCRIPTS = [file.read_text("utf-8") for file in sorted(COMPONENT.rglob("*.js"))]
COMPILER = "typescript@5.9.3"
OWN = {"connectedCallback", "disconnectedCallback", "showUnread"}
"""Methods that the browser or the chat itself calls."""


def part(name: str) -> str:
    """The members of a declared interface, or of a type."""
    found = re.search(
        rf"export (?:interface|type) {name}\b.*?\n(.*?)^(?:\}}|  \| .*;)$",
        DECLARED,
        re.MULTILINE | re.DOTALL,
    )
    assert found is not None, name
    return found[0]


def test_all_methods_are_declared_and_all_declared_ones_are_there() -> None:
    loader = (COMPONENT / LOADER).read_text("utf-8")
    methods = set(re.findall(r"^  (?:async )?([a-z]\w*)\([^)]*\) \{$", loader, re.MULTILINE))
    declared = set(re.findall(r"^  (\w+)\(", part("AitpChat"), re.MULTILINE))
    assert declared - {"addEventListener", "removeEventListener"} == methods - OWN


def test_all_events_are_declared_and_all_declared_ones_are_told() -> None:
    told = {name for text in SCRIPTS for name in re.findall(r"\btell\(\"(\w+)\"", text)}
    declared = set(re.findall(r"^  (\w+): (?:null|\{)", part("AitpChatEvents"), re.MULTILINE))
    assert declared == told
    assert declared == set("ready open close message answer action handover error".split())


def test_all_codes_of_errors_are_declared() -> None:
    codes = {name for text in SCRIPTS for name in re.findall(r"\"((?:\w+_)+\w+)\"", text)}
    declared = set(re.findall(r"\"(\w+)\"", part("AitpChatErrorCode")))
    assert declared <= codes
    assert {code for code in codes if code.startswith(("token_", "context_", "not_"))} == declared


@pytest.mark.servers
@pytest.mark.skipif(shutil.which("npx") is None, reason="npm is not installed here")
def test_a_program_that_uses_the_element_compiles(tmp_path: Path) -> None:
    shutil.copy(COMPONENT / DECLARATION, tmp_path)
    (tmp_path / "page.ts").write_text(
        """
        import type { AitpChatEvents } from "./widget";
        const chat = document.querySelector("aitp-chat")!;
        chat.addEventListener("answer", ({ detail }) => detail.text.trim());
        chat.addEventListener("error", ({ detail }) => detail.code === "token_expired");
        chat.addEventListener("click", () => chat.close());
        const listen = ({ detail }: CustomEvent<AitpChatEvents["handover"]>) => detail.name.trim();
        chat.addEventListener("handover", listen);
        chat.removeEventListener("handover", listen);
        chat.setContext({ product: "Stove", inStock: true });
        const known: Promise<boolean> | undefined = chat.identify(null);
        // @ts-expect-error: a context has no lists
        chat.setContext({ product: [known] });
        """,
        encoding="utf-8",
    )
    command = [
        "npx",
        "--yes",
        "--package",
        COMPILER,
        "tsc",
        "--noEmit",
        "--strict",
        "--target",
        "es2022",
        "page.ts",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
