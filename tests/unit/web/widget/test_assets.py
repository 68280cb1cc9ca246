"""How the component's files are made small."""

from __future__ import annotations

import pytest

from aitp_desk.web.widget.assets import squeeze_code


@pytest.mark.parametrize(
    ("line", "squeezed"),
    [
        ("const a = { b: 1 };", "const a = { b: 1 };"),
        ("    const a = { b: [1, 2] };", " const a={b:[1,2]};"),
        ('  return "a  = b";', ' return "a  = b";'),
        ("  say(`${a} , ${b}`, 'c , d');", " say(`${a} , ${b}`,'c , d');"),
        ("  a = `${b ? `${c} d` : e} f`;", " a = `${b ? `${c} d` : e} f`;"),
        ("  const [x] = / = (\\d)/.exec(y);", " const [x] = / = (\\d)/.exec(y);"),
        ("  return a - -b + +c;", " return a - -b + +c;"),
        ("  for (const a of b) await c;", " for(const a of b)await c;"),
    ],
)
def test_only_spaces_that_mean_nothing_are_left_out(line: str, squeezed: str) -> None:
    assert squeeze_code(f"{line}\n\n".encode()).decode() == f"{squeezed}\n"


def test_lines_are_joined_where_no_statement_could_change() -> None:
    code = """
class A {
  b() {
    const c = [
      1,
      2,
    ];
    d(); // a word
    return c
      .map(d);
  }
}
const e = 1;
"""
    assert squeeze_code(code.encode()).decode() == (
        "class A {\n b(){const c=[1,2];d(); // a word\n return c\n .map(d)}\n}\nconst e = 1;\n"
    )
