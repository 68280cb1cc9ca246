"""What the dialects of Markdown add: it is read as what it says, and never as it is written."""

from pathlib import Path

import pytest

from aitp_desk.knowledge.documents.chunks import split_passages
from aitp_desk.knowledge.sources.loader import load_content
from aitp_desk.knowledge.sources.markdown.dialects import to_commonmark


def said(tmp_path: Path, text: str, name: str = "a.md") -> list[str]:
    """The texts of all units of a page."""
    tmp_path.joinpath(name).write_text(text, "utf-8")
    (document,) = load_content(tmp_path).documents
    return [unit.text for passage in split_passages(document) for unit in passage.units]


@pytest.mark.parametrize(
    ("text", "units"),
    [
        # MkDocs
        ("!!! note\n    No keys.\n\nAfter.", ["Note: No keys.", "After."]),
        ('!!! warning "Stop"\n    No keys.', ["Stop: No keys."]),
        ('!!! tip ""\n    No title.', ["No title."]),
        ("??? question\n    Why?\n\n    So.", ["Question: Why?", "So."]),
        ('=== "A"\n\n    Use apt.\n\n=== "B"\n\n    Use brew.', ["A: Use apt.", "B: Use brew."]),
        ('=== "sh"\n\n    ```sh\n    ls\n    ```', ["sh:", "```sh\nls\n```"]),
        ("Press ++ctrl+c++ :material-check: now (1).", ["Press Ctrl+C now (1)."]),
        ("[Go](b.md){ .md-button } ==on==", ["Go on"]),
        ("Door\n:   It opens.\n\nKey\n:   It fits.", ["Door: It opens.", "Key: It fits."]),
        ("It opens[^1].\n\n[^1]: At nine.", ["It opens.", "At nine."]),
        ("`E_1`\n: It fails.\n\n`E_2`\n: It waits.", ["E_1: It fails.", "E_2: It waits."]),
        ("[TOC]\n\nText.", ["Text."]),
        ('=== ":octicons-file-16: a.toml"\n\n    Text.', ["a.toml: Text."]),
        ('Run ++"Python: Select"++ or ++ctrl+"p"++.', ["Run Python: select or Ctrl+P."]),
        ("::: package.module\n    options:\n\nText.", ["Text."]),
        (
            "/// tip | Keys\n    open: true\n\nBring one.\n///\nAfter.",
            ["Keys: Bring one.", "After."],
        ),
        ("{--Old--}{++New++} {~~a~>b~~} {==on==}{>>why<<}.", ["New b on."]),
        ("H~2~O, 10^-3^, the n^th^; ~5 ~ 6, a ^ b.", ["H₂O, 10⁻³, the nth; ~5 ~ 6, a ^ b."]),
        ("The SCA.\n\n*[SCA]: Strong authentication", ["The SCA.", "SCA: Strong authentication"]),
        (
            "Run `#!python print()` by [PEP 517][] and [the `API`][pkg.api].",
            ["Run print() by PEP 517 and the API."],
        ),
        ("| Mac | PC |\n| --- | --- |\n| :white_check_mark: | :x: |", ["✅: ❌"]),
        ('<div class="grid" markdown>\n**Fast** and small.\n</div>', ["Fast and small."]),
        ("{.lead #top}\nText.", ["Text."]),
        # Docusaurus, VitePress
        (":::tip Good\n\nUse it.\n\n:::", ["Good: Use it."]),
        (":::note[Good]\nUse it.\n:::", ["Good: Use it."]),
        (":::danger\nNever.\n:::\nAfter.", ["Danger: Never.", "After."]),
        ("::::info\n:::tip\nIn.\n:::\nOut.\n::::", ["Info: Tip: In.", "Out."]),
        ("::: code-group\n```js [a.js]\nlet a\n```\n:::", ["a.js:", "```js\nlet a\n```"]),
        ("::: details More\nIt is.\n:::", ["More: It is."]),
        ('```js title="a.js" {1}\nlet a\n```', ["a.js:", "```js\nlet a\n```"]),
        ("```bash cURL\nls\n```", ["cURL:", "```bash\nls\n```"]),
        ("```js a.js (new) {1} copy\na\n```", ["a.js (new):", "```js\na\n```"]),
        ("```js filename=a.js [4,6]\na\n```", ["a.js:", "```js\na\n```"]),
        ("```js [4,6]\na\n```", ["```js\na\n```"]),
        ("```js npm2yarn showLineNumbers\na\n```", ["```js\na\n```"]),
        ("- One\n\n  :::note\n  In it.\n  :::", ["One", "Note: In it."]),
        # GitHub
        ("> [!WARNING]\n> Mind it.", ["Warning: Mind it."]),
        # MyST
        ("```{note}\nNo keys.\n```", ["Note: No keys."]),
        (":::{admonition} Stop\n:class: tip\n\nNo keys.\n:::", ["Stop: No keys."]),
        ("```{code-block} python\n:linenos:\nprint()\n```", ["```python\nprint()\n```"]),
        ("(doors)=\n\n{func}`a.b` {ref}`Doors <doors>` {term}`key`", ["a.b() Doors key"]),
        ("```{toctree}\n:hidden:\na\n```\n% a comment\nText.", ["Text."]),
        ("```{include} a.txt\n```\n+++\nText.", ["Text."]),
        ("::::{tab-set}\n:::{tab-item} Linux\nUse apt.\n:::\n::::", ["Linux: Use apt."]),
        ("```{versionadded} 1.2\nIt is new.\n```", ["Added in version 1.2: It is new."]),
        (
            "```{list-table}\n:header-rows: 1\n* - Name\n  - Price\n* - Box\n  - 5\n```",
            ["Box: 5"],
        ),
        ("```{eval-rst}\n.. tip:: From rst.\n```", ["Tip: From rst."]),
        # Hugo, Jinja, Vue
        ('{{< tabs >}}\n{{< tab "A" >}}\nUse it.\n{{< /tab >}}\n{{< /tabs >}}', ["A:", "Use it."]),
        ("{{% notice tip %}}\nUse it.\n{{% /notice %}}", ["Tip: Use it."]),
        ('See [b]({{< ref\n"b.md" >}}).', ["See b."]),
        ('See [b]({{< ref "b.md" >}}) {{ version }} or `{{ x }}`.', ["See b or {{ x }}."]),
        ("{{< highlight go >}}\nx := 1\n{{< /highlight >}}", ["```go\nx := 1\n```"]),
        # components
        (
            '<Tabs>\n  <TabItem label="Mac">\n    ```sh\n    ls\n    ```\n  </TabItem>\n</Tabs>',
            ["Mac:", "```sh\nls\n```"],
        ),
        ('<Plan name="Small" />\n\nText.', ["Small", "Text."]),
        ('<LinkCard title="Gear" description="What to pack." />', ["Gear: What to pack."]),
        ("```{only} latex\nOn paper.\n```\n\n```{only} html\nHere.\n```", ["Here."]),
        (
            '<ParamField path="id" type="string" required>\n  Its `id`.\n</ParamField>',
            ["id (path, string, required):", "Its id."],
        ),
        (
            ("<Rows of={[\n  {\n  name: 'max', type: \"number | null\", isOptional: true,\n"
            "  description: 'The most, it\\'s 9.',\n  },\n]} />"),
            ["max (number | null, optional): The most, it's 9."],
        ),
        ('<Callout type="caution">Mind it.</Callout>', ["Caution: Mind it."]),
    ],
)  # fmt: skip
def test_a_dialect_is_read_as_what_it_says(tmp_path: Path, text: str, units: list[str]) -> None:
    assert said(tmp_path, f"# Doors\n\nBegin.\n\n{text}\n")[1:] == units


@pytest.mark.parametrize(
    "text",
    [
        "```md\n!!! note\n    Text\n```",
        "~~~\n:::tip\n~~~",
        "Use `{{ name }}` and `{func}` here.",
        "See `data://{id}` or `x` and [a][b], [c][].\n\n[b]: x.md\n[C]: y.md",
        'Take meta["a"]["b"] of it.',
        "/// no end\ntext",
        "Title\n===\n\nA: b\n\n1 + 1 == 2 and 2 == 2",
        "| a | b |\n| :-- | --: |\n| 1 | 2 |",
        "A generic `Array<T>` and 3 < 4.",
        "<P STYLE='display: none'>secret</P>",
        "!!!no box\n\n<style>\na[b=c]{.d}\n</style>",
    ],
)
def test_what_is_no_dialect_stays(text: str) -> None:
    assert to_commonmark(text) == text


def test_a_name_stands_for_what_the_front_matter_says(tmp_path: Path) -> None:
    text = (
        "---\ntitle: Doors\nsubstitutions:\n  bar: 9 bar\n---\n{{ bar }}, {{page.title}} {{ x }}.\n"
    )
    assert said(tmp_path, text) == ["9 bar, Doors ."]


def test_answers_that_open_are_sections(tmp_path: Path) -> None:
    opening = "<details>\n<summary>{}</summary>\n\n{}\n\n</details>\n"
    text = opening.format("Is it free?", "**Yes it is**") + opening.format("Who comes?", "All.")
    tmp_path.joinpath("a.md").write_text(f"# Doors\n\nBegin.\n\n{text}", "utf-8")
    (document,) = load_content(tmp_path).documents
    found = {passage.trail: passage.text for passage in split_passages(document)}
    assert found == {(): "Begin.", ("Is it free?",): "Yes it is", ("Who comes?",): "All."}


MDX = """\
---
title: Doors
---
import Tabs from '@theme/Tabs';
import {
  Door,
} from './door';
export const meta = {
  a: 1,
};

{/* a comment */}

# Doors

<Card
  title="Open it"
  onClick={() => go()}
>
  Push the <b className="x">handle</b>{" "}twice, {props.name}.
</Card>

<Video src="a.mp4" />

<div className="wide">
    <p>
      Use **keys**.
    </p>
</div>

Use <Kbd>Ctrl</Kbd> or `<!-- a -->`.

<Steps>
  1. One

     ```jsx
     <Door open={true} />
     ```
</Steps>
"""


def test_mdx_is_read_without_its_program(tmp_path: Path) -> None:
    assert said(tmp_path, MDX, "a.mdx") == [
        "Open it:",
        "Push the handle twice, .",
        "Use keys.",
        "Use Ctrl or <!-- a -->.",
        "One",
        "```jsx\n<Door open={true} />\n```",
    ]


@pytest.mark.parametrize(
    "hidden",
    [
        "<div style={{display: 'none'}}>secret</div>",
        "<Box style={{ fontSize: 0 }}>\n\nsecret\n\n</Box>",
        "<Box hidden>\nsecret\n</Box>",
        'So <Box style="visibility: hidden">secret</Box> it is.',
        "So <span hidden={true}>secret</span> it is.",
        "<style>{`.x { display: none }`}</style>\n\n<p className='x'>secret</p>",
        "<!-- secret -->",
        "--8<-- <!--\nsecret\n-->",
        "{{ <!-- }}\nsecret\n-->",
        "{/* secret */}",
        "{secret}",
        "export const a = 'secret'",
    ],
)
def test_what_mdx_hides_is_not_read(tmp_path: Path, hidden: str) -> None:
    tmp_path.joinpath("a.mdx").write_text(f"# Doors\n\nThey open.\n\n{hidden}\n\nThey close.\n")
    (document,) = load_content(tmp_path).documents
    found = [unit.text for passage in split_passages(document) for unit in passage.units]
    assert (found[0], found[-1]) == ("They open.", "They close.")
    assert "secret" not in document.body
    assert "secret" not in " ".join(found)


@pytest.mark.slow
def test_much_that_is_open_is_read_in_time(subtests: pytest.Subtests) -> None:
    cases: list[str] = [
        ":::note\n" * 20_000,
        "!!! note\n" * 20_000,
        "\n".join("    " * depth + "!!! note" for depth in range(200)),
        "<A b={" * 5_000,
        "<A\n" * 20_000,
        "```{note}\n" * 20_000,
        "{{<" * 30_000,
        "/// note\n" * 20_000,
        "[`" * 30_000,
        "<A b={[{c: /*" * 5_000 + "}]} />",
        "a\n: b\n" * 20_000,
        "[^a]" * 30_000,
        "{a}`" * 30_000,
        "++a" * 30_000,
        "==a" * 30_000,
    ]
    for text in cases:
        with subtests.test(text=text):
            assert isinstance(to_commonmark(text, is_mdx=True), str)
