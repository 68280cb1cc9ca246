"""Modules become one file."""

from __future__ import annotations

import pytest

from aitp_desk.web.bundle import put_constants


@pytest.mark.parametrize(
    ("code", "shorter"),
    [
        ("const MOST = 1_000;\nf(MOST);\n", "f(1_000);\n"),
        ('const KIND = "a b";\nf(`.${KIND}`, KINDS);\n', 'f(`.${"a b"}`, KINDS);\n'),
        ("const WORD = /[/\\\\]\\w/u;\nf(WORD);\n", "f(/[/\\\\]\\w/u);\n"),
        ("const WORD = /a/g;\nf(WORD);\n", "const WORD = /a/g;\nf(WORD);\n"),
        ("const MOST = 2;\nf(MOST, MOST);\n", "const MOST = 2;\nf(MOST, MOST);\n"),
        ("const most = 2;\nf(most);\n", "const most = 2;\nf(most);\n"),
        ("const ALL = [1];\nf(ALL);\n", "const ALL = [1];\nf(ALL);\n"),
    ],
)
def test_a_constant_that_is_used_once_is_put_there(code: str, shorter: str) -> None:
    assert put_constants(code) == shorter
