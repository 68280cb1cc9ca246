"""Tabs of HTML pages."""

from pathlib import Path

import pytest

from aitp_desk.knowledge.documents.chunks import split_passages
from aitp_desk.knowledge.sources.loader import load_content


def said(tmp_path: Path, html: str) -> list[str]:
    """The texts of all units of a page below its title."""
    tmp_path.joinpath("a.html").write_text(f"<main><h1>Page</h1><p>Top.</p>{html}</main>", "utf-8")
    (document,) = load_content(tmp_path).documents
    return [unit.text for passage in split_passages(document) for unit in passage.units][1:]


@pytest.mark.parametrize(
    "html",
    [
        (
            "<ul role='tablist'><li role='tab'>Mac</li><li role='tab'>Linux</li></ul>"
            "<div role='tabpanel'><p>Use brew.</p></div>"
            "<div role='tabpanel' hidden><p>Use apt.</p></div>"
        ),
        (
            "<button role='tab' aria-controls='m'>Mac</button>"
            "<button role='tab' aria-controls='l'>Linux</button>"
            "<div role='tabpanel' id='l' hidden><p>Use apt.</p></div>"
            "<div role='tabpanel' id='m'><p>Use brew.</p></div>"
        ),
        (
            "<div class='tabbed-set'><input type='radio'><input type='radio'>"
            "<div class='tabbed-labels'><label>Mac</label><label>Linux</label></div>"
            "<div class='tabbed-content'><div class='tabbed-block'><p>Use brew.</p></div>"
            "<div class='tabbed-block'><p>Use apt.</p></div></div></div>"
        ),
        (
            "<div class='sd-tab-set'><input><label class='sd-tab-label'>Mac</label>"
            "<div class='sd-tab-content'><p>Use brew.</p></div><input>"
            "<label class='sd-tab-label'>Linux</label>"
            "<div class='sd-tab-content'><p>Use apt.</p></div></div>"
        ),
    ],
)
def test_panels_have_the_names_of_their_tabs(tmp_path: Path, html: str) -> None:
    found = " ".join(said(tmp_path, html))
    assert "Mac: Use brew." in found
    assert "Linux: Use apt." in found


def test_a_hidden_panel_without_a_tab_is_hidden(tmp_path: Path) -> None:
    panel = "<div role='tabpanel' hidden><p>secret</p></div>"
    tab = "<div hidden><span role='tab'>Mac</span></div>"
    assert said(tmp_path, panel) == []
    assert said(tmp_path, tab + panel) == []
