"""reStructuredText, with what Sphinx adds to it."""

from pathlib import Path

import pytest

from aitp_desk.knowledge.documents.base import Document, Passage
from aitp_desk.knowledge.documents.chunks import split_passages
from aitp_desk.knowledge.sources.formats.rst import MAX_CHARACTERS, MAX_LINE, rst_html
from aitp_desk.knowledge.sources.loader import load_content


def read(tmp_path: Path, text: str) -> tuple[Document, list[Passage]]:
    """The page ``a.rst`` of a folder, and its passages."""
    tmp_path.joinpath("a.rst").write_text(text, "utf-8")
    (document,) = load_content(tmp_path).documents
    return document, split_passages(document)


def said(passages: list[Passage]) -> list[str]:
    """The texts of all units."""
    return [unit.text for passage in passages for unit in passage.units]


PAGE = """\
:orphan:

.. _locks:

Locks
=====

.. contents::

Every door has one, see :ref:`opening` or :doc:`the list </doors/index>`.

.. _opening:

Opening them
------------

Call :py:func:`door.open`, ``door.close`` or :class:`~door.Door` with :kbd:`Ctrl`.

.. note:: Keys are not included.

.. code-block:: python

   door.open()

.. versionadded:: 1.2
   It knocks first.
"""


def test_sections_have_their_titles_and_ids(tmp_path: Path) -> None:
    document, passages = read(tmp_path, PAGE)
    assert (document.path, document.title, document.kind) == ("a", "Locks", "html")
    assert [(passage.heading, passage.url) for passage in passages] == [
        ("Locks", "/a#locks-1"),
        ("Opening them", "/a#opening-them"),
    ]


def test_roles_and_directives_of_sphinx_are_read_as_their_words(tmp_path: Path) -> None:
    document, passages = read(tmp_path, PAGE)
    assert said(passages) == [
        "Every door has one, see Opening them or the list.",
        "Call door.open(), door.close or Door with Ctrl.",
        "Note: Keys are not included.",
        "```python\ndoor.open()\n```",
        "Added in version 1.2: It knocks first.",
    ]
    assert 'href="/doors"' in document.body
    assert 'href="#opening"' in document.body


@pytest.mark.parametrize(
    ("text", "units"),
    [
        (":ref:`Keys <keys-of-all>` and :ref:`keys-of-all`", ["Keys and keys of all"]),
        (":guilabel:`&Save` :menuselection:`File --> Open`", ["Save File › Open"]),
        (":abbr:`PO (post office)`, :issue:`12`, :octicon:`x`.", ["PO (post office), 12, ."]),
        (":file:`/home/{you}` :samp:`-{n}` :option:`ls -l`", ["/home/you -n ls -l"]),
        ("|version| of `nothing`_ and *a", ["version of nothing and *a"]),
        (".. confval:: port\n   :default: ``80``\n\n   It waits.", ["port: Default: 80 It waits."]),
        (".. tab-set::\n\n   .. tab-item:: Linux\n\n      Use apt.", ["Linux: Use apt."]),
        (".. dropdown:: Why?\n   :open:\n\n   Because.", ["Why?: Because."]),
        (".. role:: mine(strong)\n\n:mine:`a` :raw-html:`<br>`", ["a"]),
        (".. grid:: 1 2\n\n   .. grid-item-card:: Doors\n\n      All.", ["Doors: All."]),
        (".. admonition:: So\n   :collapsible: open\n\n   It is.", ["So", "It is."]),
        (".. only:: html\n\n   On the web.", ["On the web."]),
        (".. only:: latex\n\n   On paper.\n\nText.", ["Text."]),
        (".. glossary::\n\n   Door\n      It opens.", ["Door: It opens."]),
        (".. image:: a.png\n   :loading: embed", []),
        (".. automodule:: door\n   :members:\n\nText.", ["Text."]),
        (".. todo:: Write this.\n\nText.", ["Text."]),
        ("It opens---or -- not; ``a---b`` and --all.", ["It opens—or – not; a---b and --all."]),
        (".. a comment\n\nText.", ["Text."]),
    ],
)  # fmt: skip
def test_what_generators_add_is_read(tmp_path: Path, text: str, units: list[str]) -> None:
    assert said(read(tmp_path, f"Doors\n=====\n\nBegin.\n\n{text}\n")[1])[1:] == units


def test_options_and_functions_are_sections_with_ids(tmp_path: Path) -> None:
    text = "Doors\n=====\n\n.. py:function:: open(door, key=None)\n\n   " + "It opens. " * 40
    _, (passage,) = read(tmp_path, text)
    assert passage.heading == "open"
    assert passage.anchor


def test_a_section_that_is_called_like_a_menu_is_content(tmp_path: Path) -> None:
    text = "Desk\n====\n\nA desk.\n\nMenu\n----\n\nSoup.\n"
    assert said(read(tmp_path, text)[1]) == ["A desk.", "Soup."]


@pytest.mark.parametrize(
    "insertion",
    [
        ".. include:: {}",
        ".. literalinclude:: {}",
        ".. raw:: html\n   :file: {}",
        ".. csv-table::\n   :file: {}",
        ".. image:: {}\n   :loading: embed",
        ".. figure:: {}\n   :figwidth: image",
        ".. raw:: html\n\n   <b>secret</b>",
        ".. role:: raw-html(raw)\n   :format: html\n\n:raw-html:`<script>x</script>`",
    ],
)
def test_no_file_and_no_html_is_inserted(tmp_path: Path, insertion: str) -> None:
    secret = tmp_path / "secret.svg"
    secret.write_text("<svg>secret</svg>")
    html = rst_html(f"Doors\n=====\n\n{insertion.format(secret)}\n")
    assert "secret<" not in html
    assert "<script" not in html
    assert "base64" not in html


def test_the_roles_of_a_page_are_its_own() -> None:
    rst_html(".. role:: mine(strong)\n\n:mine:`a`")
    assert "<strong>" not in rst_html(":mine:`a`")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a " * (MAX_CHARACTERS // 2 + 1), "characters"),
        ("a" * (MAX_LINE + 1), "characters"),
        ("\n\n".join("  " * depth + "- a" for depth in range(400)), "deep"),
    ],
)
def test_what_is_too_large_is_a_problem(tmp_path: Path, text: str, message: str) -> None:
    tmp_path.joinpath("a.rst").write_text(text)
    content = load_content(tmp_path)
    assert content.documents == ()
    assert message in content.problems[0].message


@pytest.mark.slow
def test_much_unclosed_markup_is_read_as_text() -> None:
    assert "*a *a" in rst_html("*a " * 6000)
    repeated = "\n".join(
        f".. |a{n}| replace:: {f'|a{n - 1}| ' * 8 if n else 'boom'}" for n in range(9)
    )
    assert len(rst_html(f"|a8|\n\n{repeated}")) < MAX_LINE * 2
