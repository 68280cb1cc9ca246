"""How long mails take to read that are written to take long.

    python -m tests.bench.mails [--size 1000000]

Each is one unit, repeated: of text, of HTML, of both, or of the structure. Printed are the
milliseconds of the processor for the slowest ones, the best of three, and how many times as long
that is as for a tenth of the size.
"""

from __future__ import annotations

import argparse
import time
from contextlib import suppress

from aitp_desk.transports.email.mail import UnreadableMail, read_mail
from tests.unit.transports.email.mail.shapes import MAILS, make_adversarial

SHOWN = 10


def measure(shape: str, size: int) -> float:
    """The shortest time of some, in milliseconds."""
    data = make_adversarial(shape, size)
    best = float("inf")
    for _ in range(3):
        began = time.process_time()
        with suppress(UnreadableMail):
            read_mail(data, "mx")
        best = min(best, time.process_time() - began)
    return best * 1000


def main() -> None:
    """Measure all shapes, and print the slowest."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1_000_000)
    size: int = parser.parse_args().size
    found = [(measure(shape, size), shape) for shape in MAILS]
    print(f"{len(found)} mails of {size} bytes; the slowest:")
    for milliseconds, shape in sorted(found, reverse=True)[:SHOWN]:
        ratio = milliseconds / measure(shape, size // 10)
        print(f"{milliseconds:8.1f} ms {ratio:6.1f} x  {shape}")


if __name__ == "__main__":
    main()
