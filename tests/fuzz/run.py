"""Millions of nearly right inputs for every parser that unauthenticated bytes come to.

    python -m tests.fuzz.run [--executions 10000000] [--seed N] [--bytes 4096] [--seconds 10]
        [TARGET…]

Each target is fuzzed in a separate process, guided by the coverage of the desk's own code
(`pip install -e '.[dev,fuzz]'`). It prints how often each ran and ends with 1 where
one raised something that is no refusal; the input that did it is kept in `--keep`.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from tests.fuzz.target import Target
from tests.fuzz.targets import TARGETS

_DONE = re.compile(rb"^Done (\d+) runs? in", re.MULTILINE)
_COVERED = re.compile(rb"cov: (\d+)")


class Bounds(msgspec.Struct, frozen=True):
    """What one input may have and take: work that grows with its square takes too long."""

    bytes: int
    seconds: int


class Fuzzed(msgspec.Struct, frozen=True):
    """What became of one target.

    Parameters:
        executions: how often it ran.
        covered: how many places of the code were reached.
        failure: the end of what was printed where it failed, else empty.
    """

    executions: int
    covered: int
    seconds: float
    failure: str = ""


def fuzz(target: Target, executions: int, seed: int, keep: Path, bounds: Bounds) -> Fuzzed:
    """Fuzz one target in a separate process."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        corpus, words = Path(folder) / "corpus", Path(folder) / "words"
        corpus.mkdir()
        for number, data in enumerate(target.seeds):
            (corpus / str(number)).write_bytes(data)
        words.write_text("".join(f'"{_escaped(word)}"\n' for word in target.words), "ascii")
        command = [
            *(sys.executable, "-m", "tests.fuzz.libfuzzer", target.name, f"-runs={executions}"),
            *(f"-seed={seed}", f"-max_len={bounds.bytes}", f"-timeout={bounds.seconds}"),
            "-rss_limit_mb=2048",
            *(f"-dict={words}", f"-artifact_prefix={keep}/", str(corpus)),
        ]
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
    ran, covered = _DONE.search(done.stdout), _COVERED.findall(done.stdout)
    failure = "" if done.returncode == 0 and ran else done.stdout.decode("utf-8", "replace")[-2000:]
    return Fuzzed(
        int(ran[1]) if ran else 0,
        int(covered[-1]) if covered else 0,
        time.monotonic() - began,
        failure,
    )


def _escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


def main() -> int:
    """Fuzz the targets that are named, else all; 1 where one failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    parser.add_argument("--executions", type=int, default=10_000_000, help="of all together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bytes", type=int, default=4096, help="of the longest input")
    parser.add_argument("--seconds", type=int, default=10, help="that one input may take")
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "fuzz-failures")
    given = parser.parse_args()
    chosen = [target for target in TARGETS if not given.targets or target.name in given.targets]
    if unknown := set(given.targets) - {target.name for target in chosen}:
        parser.error(f"there is no target {', '.join(unknown)}")
    given.keep.mkdir(parents=True, exist_ok=True)
    shares = sum(target.share for target in chosen)
    bounds = Bounds(given.bytes, given.seconds)
    total, failed = 0, 0
    print(f"{'parser':28}{'executions':>12}{'places':>8}{'a second':>10}", flush=True)
    for target in chosen:
        executions = round(given.executions * target.share / shares) + 1
        fuzzed = fuzz(target, executions, given.seed, given.keep, bounds)
        rate = fuzzed.executions / fuzzed.seconds
        print(
            f"{target.name:28}{fuzzed.executions:12,}{fuzzed.covered:8,}{rate:10,.0f}", flush=True
        )
        total += fuzzed.executions
        if fuzzed.failure:
            failed += 1
            print(fuzzed.failure, file=sys.stderr)
    print(f"{'together':28}{total:12,}{'':8}{'':10}  failed: {failed}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
