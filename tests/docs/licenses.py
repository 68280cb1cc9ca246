"""Writes ``docs/licenses.csv``: the licences of what is installed with the desk.

Run ``python -m tests.docs.licenses`` after a change of the dependencies.
"""

from __future__ import annotations

import csv
import io
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable
from importlib.metadata import Distribution, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.docs.snippets import ROOT

TABLE = ROOT / "docs" / "licenses.csv"
OWN = "aitp-desk"
BASE = "base"
HEAD = ("package", "license", "needed by")

PERMITTED = frozenset(
    "0BSD Apache-2.0 BSD BSD-2-Clause BSD-3-Clause CC0-1.0 MIT MIT-0 MPL-2.0 PSF-2.0 Zlib"
    " LicenseRef-Public-Domain".split()
)
"""Licences of dependencies; of the MPL-2.0 an unchanged copy asks for nothing but its notice."""
STATED = {
    # beside the package its sources have an Emacs mode under the GPL, which no wheel has
    "docutils": "LicenseRef-Public-Domain AND BSD-2-Clause",
}
"""What metadata does not state in terms of SPDX."""
_NAMES = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "MIT License": "MIT",
    "MIT, BSD": "MIT AND BSD",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
"""SPDX identifiers of what packages write; of ``BSD`` they do not say which."""


def list_needed() -> dict[str, set[str]]:
    """List the packages that are installed with the desk, and the extras that need each."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    (everything,) = map(Requirement, extras["all"])
    needed: dict[str, set[str]] = defaultdict(set)
    _walk(project["dependencies"], BASE, needed)
    for extra in sorted(everything.extras):
        _walk(extras[extra], extra, needed)
    return {name: {BASE} if BASE in by else by for name, by in needed.items()}


def _walk(lines: Iterable[str], needed_by: str, needed: dict[str, set[str]]) -> None:
    waiting = [(Requirement(line), "") for line in lines]
    seen = set[tuple[str, str]]()
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        needed[name].add(needed_by)
        for wanted in {"", *requirement.extras}:
            if (name, wanted) not in seen:
                seen.add((name, wanted))
                more = distribution(name).requires or ()
                waiting += [(Requirement(line), wanted) for line in more]


def read_license(package: Distribution) -> str:
    """Return the licence of a package as an SPDX expression; empty if it states none."""
    data = package.metadata
    if "License-Expression" in data:
        return data["License-Expression"]
    prefix = "License :: "
    classified = {
        _NAMES.get(named, "")
        for one in data.get_all("Classifier", [])
        if one.startswith(prefix) and (named := one.rpartition(" :: ")[2]) != "OSI Approved"
    }
    written = data["License"].strip() if "License" in data else ""
    if written and "\n" not in written:
        return _NAMES.get(written, written)
    return "" if "" in classified else " OR ".join(sorted(classified))


def list_licenses() -> dict[str, tuple[str, str]]:
    """List the licence of each needed package, and what needs it."""
    return {
        name: (STATED.get(name) or read_license(distribution(name)), " ".join(sorted(by)))
        for name, by in sorted(list_needed().items())
    }


def terms_of(expression: str) -> set[str]:
    """Return the identifiers of an SPDX expression."""
    return set(re.findall(r"[\w.-]+", expression)) - {"AND", "OR", "WITH"}


def write_table() -> str:
    """Write the table."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEAD)
    writer.writerows((name, *row) for name, row in list_licenses().items())
    return out.getvalue()


if __name__ == "__main__":
    TABLE.write_text(write_table(), "utf-8")
