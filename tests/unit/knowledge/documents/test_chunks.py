"""Documents as passages: sections with their addresses, and the units that answers are made of."""

from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.knowledge.documents.anchors import AnchorIds, slug
from aitp_desk.knowledge.documents.base import Document, Passage
from aitp_desk.knowledge.documents.chunks import MAX_PASSAGE_CHARACTERS, split_passages

PAGE = """# Shipping

Everything ships from Redmond.

## Rates & times

We ship fast. Very fast.

| Service | Where | Price |
|---|---|---|
| Standard | Lower 48 | $6.95 |
| Express | **Canada** | `$19.95` |

## Details

### Steps

To return:

1. Open the order.
   - Choose a reason. Say more if you like.
2. Print the label.

```sh
curl -s https://example.com
```

## Details

Again.
"""


def cut(body: str, *, kind: str = "markdown", title: str = "Shipping") -> list[Passage]:
    return split_passages(Document("p", "p.md", title, "", kind, body))  # type: ignore[arg-type]


def test_each_section_is_a_passage_with_its_heading_trail_and_address() -> None:
    assert [(p.heading, p.trail, p.url, p.name) for p in cut(PAGE)] == [
        ("Shipping", (), "/p#shipping", "Shipping"),
        ("Rates & times", ("Rates & times",), "/p#rates--times", "Shipping: Rates & times"),
        ("Steps", ("Details", "Steps"), "/p#steps", "Shipping: Steps"),
        ("Details", ("Details",), "/p#details-1", "Shipping: Details"),
    ]


def test_a_numbered_list_keeps_its_numbers() -> None:
    steps = cut(PAGE)[2].text
    assert steps.startswith(
        "To return:\n1. Open the order.\n- Choose a reason. Say more if you like.\n2. Print the"
    )
    (later,) = cut("7. Seal it.\n\n   With tape.\n8. Post it.\n")
    assert later.text == "7. Seal it.\nWith tape.\n8. Post it."


def test_html_in_markdown_is_read_across_empty_lines() -> None:
    (passage,) = cut(
        "<table>\n<tr><th>Door</th><th>Opens</th></tr>\n\n<tr><td>East</td><td>at 9</td></tr>\n"
        "\n</table>\n\nUse the `<title>` or the <title> tag.\n"
    )
    assert passage.text == "East: at 9\n\nUse the <title> or the tag."
    assert passage.units[0].lead == "Door Opens"


def test_steps_that_are_all_numbered_one_count_up() -> None:
    (passage,) = cut("1. Open it.\n1. Read it.\n")
    assert passage.text == "1. Open it.\n2. Read it."


def test_text_before_the_first_heading_has_the_address_of_the_page() -> None:
    first = cut("Hello there.\n\n## More\n\nText.\n")[0]
    assert (first.heading, first.anchor, first.url) == ("", "", "/p")


def test_sentences_rows_items_and_code_are_units() -> None:
    _, rates, steps, _ = cut(PAGE)
    assert [(unit.kind, unit.text) for unit in rates.units] == [
        ("sentence", "We ship fast."),
        ("sentence", "Very fast."),
        ("row", "Standard – Where: Lower 48; Price: $6.95"),
        ("row", "Express – Where: Canada; Price: $19.95"),
    ]
    assert [(unit.kind, unit.text, unit.lead) for unit in steps.units] == [
        ("sentence", "To return:", ""),
        ("item", "Open the order.", "To return:"),
        ("item", "Choose a reason. Say more if you like.", "Open the order."),
        ("item", "Print the label.", "To return:"),
        ("code", "```sh\ncurl -s https://example.com\n```", "To return:"),
    ]


def test_a_row_of_two_columns_reads_as_a_property() -> None:
    passage = cut("| Property | Value |\n|---|---|\n| Weight | 540 g |\n")[0]
    assert passage.units[0].text == "Weight: 540 g"
    assert passage.units[0].lead == "Property Value"


def test_headings_inside_code_and_html_comments_do_not_count() -> None:
    page = cut("# T\n\n```\n# not a heading\n```\n\n<!-- # nor this -->\n\nText.\n")
    assert [passage.heading for passage in page] == ["T"]


def test_a_long_section_becomes_several_passages_with_one_address() -> None:
    body = "## Long\n\n" + " ".join(f"This is sentence number {n}." for n in range(400))
    passages = cut(body)
    assert len(passages) > 3
    assert {passage.url for passage in passages} == {"/p#long"}
    assert all(len(passage.text) <= MAX_PASSAGE_CHARACTERS * 1.2 for passage in passages)
    assert " ".join(passage.text for passage in passages) == body.removeprefix("## Long\n\n")


def test_html_is_cut_like_markdown() -> None:
    html = (
        "<h1>T</h1><p>One. Two.</p><h2>List</h2><p>Take:</p><ul><li>a<ul><li>b</li></ul></li></ul>"
        "<table><tr><th>K</th><th>V</th></tr><tr><td>1</td><td>2</td></tr></table><pre>x\ny</pre>"
    )
    first, second = cut(html, kind="html", title="T")
    assert [unit.text for unit in first.units] == ["One.", "Two."]
    assert second.url == "/p#list"
    assert [(unit.kind, unit.text, unit.lead) for unit in second.units] == [
        ("sentence", "Take:", ""),
        ("item", "a", "Take:"),
        ("item", "b", "a"),
        ("row", "1: 2", "K V"),
        ("code", "```\nx\ny\n```", "Take:"),
    ]


def test_plain_text_is_cut_at_empty_lines() -> None:
    passage = cut("One\nline.\n\nTwo.\n", kind="text")[0]
    assert [unit.text for unit in passage.units] == ["One line.", "Two."]


def test_slugs_are_githubs() -> None:
    assert slug("5.1 MODE1 — Static Serve") == "51-mode1--static-serve"
    assert slug("Does `x_y` work?") == "does-x_y-work"
    assert slug("Größe & Maß") == "größe--maß"


@given(st.lists(st.sampled_from(["Notes", "notes", "Notes 1", "Notes-1", "", "¿?"]), max_size=12))
def test_every_heading_of_a_page_gets_a_separate_id(headings: list[str]) -> None:
    anchors = AnchorIds()
    taken = [anchors.make_id(heading) for heading in headings]
    assert len(set(taken)) == len(taken)
    assert all(taken)


@given(st.text(max_size=400))
def test_no_text_breaks_the_cutting(text: str) -> None:
    for kind in ("markdown", "html", "text"):
        for passage in cut(text, kind=kind):
            assert passage.units


def test_links_below_see_also_are_no_units() -> None:
    body = (
        "# Dough\n\nKnead it. See [baking](b.md).\n\nSee also:\n\n- [Baking](b.md)\n"
        "- [Cooling](c.md)\n\nNext: [Baking](b.md)\n\n- [Salt](s.md), a spoon\n"
    )
    passages = split_passages(Document("dough", "dough.md", "Dough", "", "markdown", body))
    units = [unit.text for passage in passages for unit in passage.units]
    assert units == ["Knead it.", "See baking.", "Salt, a spoon"]


@given(st.lists(st.sampled_from(["", "x = 1", "y" * 90, "z" * 3000]), min_size=1, max_size=40))
def test_code_of_any_length_stands_in_whole_blocks(lines: list[str]) -> None:
    code = "\n".join(["a", *lines, "b"])
    passages = cut(f"# Code\n\n```py\n{code}\n```\n")

    units = [unit for passage in passages for unit in passage.units]
    assert all(unit.text.startswith("```py\n") for unit in units)
    assert all(unit.text.endswith("\n```") and len(unit.text) <= 2000 for unit in units)
    assert all(passage.text.count("```") == 2 for passage in passages)
    if "z" * 3000 not in lines:  # a longer line is cut
        read = "\n".join(passage.text for passage in passages)
        assert read.replace("\n```\n```py\n", "\n").split() == f"```py {code} ```".split()
