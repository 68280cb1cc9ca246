"""Examples of requests for a shell: a thread, and a question."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import msgspec


def choose_question(examples: Sequence[str]) -> str:
    """Return a question without apostrophes: their quoting in a shell is hard to read.

    Parameters:
        examples: questions that the content answers.
    """
    return next((asked for asked in examples if "'" not in asked), "What are your opening hours?")


def write_samples(url: str, examples: Sequence[str]) -> dict[str, str]:
    """Return two requests for a shell.

    Parameters:
        url: of the site.
        examples: questions that the content answers.
    """
    question = choose_question(examples)
    return {
        "thread_example": _request(
            f"{url}/v1/thread",
            f'{{"messages": [{_json(question)}]}}',
            "-H 'Prefer: wait=10'",
        ),
        "converse_example": _request(
            f"{url}/agent/converse",
            f'{{"ahp": "0.1", "capability": "content_search",\n       "query": {_json(question)}}}',
        ),
    }


def _request(url: str, body: str, *options: str) -> str:
    parts = (
        f"curl -X POST {shlex.quote(url)}",
        *options,
        "-H 'Content-Type: application/json'",
        f"-d {shlex.quote(body)}",
    )
    return " \\\n  ".join(parts)


def _json(text: str) -> str:
    return msgspec.json.encode(text).decode()
