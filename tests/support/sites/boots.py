"""A site of two pages that answer the same words equally well."""

from __future__ import annotations

from pathlib import Path


def write_boots(parent: Path) -> Path:
    """Write a site in a folder: two pages on boots that differ in little else."""
    folder = parent / "site"
    folder.mkdir()
    for kind, price in (("Ski", 240), ("Hiking", 160)):
        (folder / f"{kind.lower()}-boots.md").write_text(
            f"# {kind} boots\n\n## Price\n\n{kind} boots cost {price} EUR a pair.\n\n"
            f"## Repair\n\n{kind} boots are repaired within two weeks.\n"
        )
    return folder
