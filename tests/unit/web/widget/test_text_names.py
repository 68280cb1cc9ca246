"""The names of texts become shorter where that is safe."""

from __future__ import annotations

from aitp_desk.web.widget.text_names import rename_texts, shorten_text_names

CODE = """
text("greeting", { site });
counted("unread", 2);
text(isOver ? "left" : "joined") + text("left");
icon("close", text("close"));
text("unknown");
"""


def test_a_name_is_shortened_in_code_and_catalogue_alike() -> None:
    names = ("greeting", "unread", "left", "joined", "close", "aa")
    code, given = shorten_text_names(CODE, names)
    assert set(given) == {"greeting", "unread"}
    assert f'text("{given["greeting"]}", {{ site }})' in code
    assert f'counted("{given["unread"]}", 2)' in code
    for kept in ('"left" : "joined"', 'text("left")', 'text("close")', 'text("unknown")'):
        assert kept in code
    assert "aa" not in given.values()
    told = rename_texts({"greeting": "Hi", "unread.one": "1", "left": "Bye"}, given)
    assert told == {given["greeting"]: "Hi", f"{given['unread']}.one": "1", "left": "Bye"}
