"""One target under libFuzzer: `python -m tests.fuzz.libfuzzer TARGET OPTIONS…`; see `run.py`."""

from __future__ import annotations

import sys
from random import Random

import atheris

from tests.fuzz.tree import change_tree

with atheris.instrument_imports(include=["aitp_desk"]):
    from tests.fuzz.targets import TARGETS


def mutate(data: bytes, max_size: int, seed: int) -> bytes:
    """Change JSON within its form half of the times; else any bytes."""
    random = Random(seed)
    changed = change_tree(random, data) if random.random() < 0.5 else None
    if changed is not None and len(changed) <= max_size:
        return changed
    return bytes(atheris.Mutate(data, max_size))


def main() -> None:
    """Run the target until its executions are over or one fails."""
    name = sys.argv.pop(1)
    target = next(target for target in TARGETS if target.name == name)
    has_trees = any(change_tree(Random(1), seed) is not None for seed in target.seeds)
    mutator = {"custom_mutator": mutate} if has_trees else {}
    atheris.Setup(sys.argv, target.holds, **mutator)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
