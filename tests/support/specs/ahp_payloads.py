"""The payloads of AHP 0.1, appendix C.2, as the specification prints them.

Each type stands there as JSON with a description in the place of each value; what has another
member, lacks one or has a value of another kind is refused here.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

_BLOCK = re.compile(r"#### `([^`]+)`.*?```json\n(.*?)```", re.DOTALL)


class AhpPayloads:
    """The forms of all core types.

    Parameters:
        shared: the folder of outside reference data.
    """

    def __init__(self, shared: Path) -> None:
        text = (shared / "specs" / "ahp-spec-0.1.md").read_text("utf-8")
        appendix = text[text.index("### C.2") : text.index("### C.3")]
        self.forms: dict[str, Any] = {
            name: json.loads(block).get("payload") for name, block in _BLOCK.findall(appendix)
        }

    def check(self, content_type: str, payload: Any) -> None:
        """Raise AssertionError where a payload has another form than its type."""
        _compare(self.forms[content_type], payload, content_type)


def _compare(form: Any, value: Any, where: str) -> None:
    if isinstance(form, dict):
        assert isinstance(value, dict), where
        if form:  # an empty object stands for any
            assert value.keys() == form.keys(), where
        for name, inner in form.items():
            _compare(inner, value[name], f"{where}.{name}")
    elif isinstance(form, list):
        assert isinstance(value, list), where
        for item in value:
            _compare(form[0], item, f"{where}[]")
    elif isinstance(form, bool):
        assert isinstance(value, bool), where
    elif isinstance(form, int):
        assert isinstance(value, (int, float)), where
        assert not isinstance(value, bool), where
    elif value is None:
        assert "null" in form or "optional" in form or "RECOMMENDED" in form, where
    else:
        assert isinstance(value, str), where
