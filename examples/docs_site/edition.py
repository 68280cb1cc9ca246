"""Builds the site of this version of docs/, next to those of other versions.

    python -m examples.docs_site.edition build/docs

It writes into the folder:

- ``site/``: what a web server serves, a folder a version;
- ``pages/``: this version in Markdown, which the generator reads, and the site's own desk;
- ``desk.toml``: of that desk.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from string import Template

from examples.docs_site.pages import ROOT, list_navigation, write_pages

HERE = Path(__file__).parent
INDEX = """<!doctype html>
<meta charset="utf-8">
<title>aitp-desk</title>
<meta http-equiv="refresh" content="0; url={version}/">
<a href="{version}/">aitp-desk {version}</a>
"""


def build(folder: Path, root: Path = ROOT) -> None:
    """Build the site of the version that pyproject.toml names.

    Parameters:
        folder: keeps the sites of other versions.
        root: the repository.

    Raises:
        CalledProcessError: a page has a link that leads nowhere, or another fault; it is printed,
            and the site stays as it was.
    """
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    version: str = project["version"]
    shutil.rmtree(folder / "pages", ignore_errors=True)
    write_pages(folder / "pages" / version, root)  # the desk's addresses are those of the site
    shutil.copy(HERE / "desk.toml", folder)
    settings = Template((HERE / "zensical.toml").read_text("utf-8")).substitute(
        description=json.dumps(project["description"]),
        here=HERE,
        # JSON with = for : is a list of tables of TOML
        navigation=json.dumps(list_navigation(root), separators=(", ", " = ")),
        version=version,
    )
    (folder / "zensical.toml").write_text(settings, "utf-8")
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    subprocess.run([*command, "--config-file", folder / "zensical.toml"], check=True)  # noqa: S603
    (folder / "built" / "404.html").unlink()  # would have to be at the top of the host
    place = folder / "site" / version
    shutil.rmtree(place, ignore_errors=True)
    place.parent.mkdir(exist_ok=True)
    (folder / "built").rename(place)
    _write_versions(place.parent)


def _write_versions(site: Path) -> None:
    """Write the list of versions, which the pages' header offers, and the page at the top."""
    versions = [path.parent.name for path in site.glob("*/index.html")]
    versions.sort(key=lambda name: [int(part) for part in re.findall(r"\d+", name)], reverse=True)
    listed = [{"version": name, "title": name, "aliases": []} for name in versions]
    (site / "versions.json").write_text(json.dumps(listed), "utf-8")
    (site / "index.html").write_text(INDEX.format(version=versions[0]), "utf-8")


if __name__ == "__main__":
    build(Path(sys.argv[1]).resolve())
