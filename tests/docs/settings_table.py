"""The settings in `docs/run/configuration.md`, written from the Structs that define them.

    python -m tests.docs.settings_table

rewrites what stands between the two markers of that page.
"""

from pathlib import Path

from aitp_desk.config.catalogue import Section, sections

PAGE = Path(__file__).parents[2] / "docs/run/configuration.md"
BEGIN = "<!-- settings: written by `python -m tests.docs.settings_table` -->"
END = "<!-- end of settings -->"


def with_settings(page: str) -> str:
    """The page with the present settings between its markers."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    tables = "\n".join(map(_table, sections()))
    return f"{before}{BEGIN}\n\n{tables}\n{END}{after}"


def _table(section: Section) -> str:
    rows = [
        f"| `{setting.key}` | {setting.takes} | `{setting.default}` | {setting.sentence} |"
        for setting in section.settings
    ]
    head = ["| Setting | Takes | Default | |", "| --- | --- | --- | --- |"]
    return "\n".join([f"### `{section.heading}`\n", f"{section.sentence}\n", *head, *rows, ""])


if __name__ == "__main__":
    PAGE.write_text(with_settings(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
