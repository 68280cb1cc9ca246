"""Sends a program to the process that forks, and stands for it in a shell.

    python -IS fork_client.py ADDRESS MODULE ARGUMENTS...

runs a module in a fork, with the streams, folder and environment of this process. It passes on the
signals that end a program, ends as the fork does, and the fork ends if it is killed. It imports
little: a shell that starts many commands waits for each.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Sequence
from types import FrameType

STATUS_BYTES = 4
"""Of the process id that a fork has, and of the exit code, negative for a signal, that it had."""


def send_program(
    address: bytes, module: str, arguments: Sequence[str], streams: Sequence[int]
) -> tuple[socket.socket, int]:
    """Have a module run as `python -m` runs it, in this environment and folder.

    Parameters:
        streams: its standard input, output and error.

    Returns:
        The line on which the exit code comes, and the process id.
    """
    folder = os.getcwdb()  # noqa: PTH109 - to import pathlib takes as long as all else
    words = [folder, module.encode(), b"%d" % len(arguments), *map(os.fsencode, arguments)]
    words += [name + b"=" + value for name, value in os.environb.items()]
    line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    line.connect(address)
    socket.send_fds(line, [b"\0".join(words)], list(streams))
    return line, receive_status(line)


def receive_status(line: socket.socket) -> int:
    """Wait for a process id or an exit code."""
    status = line.recv(STATUS_BYTES)
    if not status:
        raise ConnectionError("The process that forks has ended.")
    return int.from_bytes(status, sys.byteorder, signed=True)


def _main(address: str, module: str, *arguments: str) -> int:
    line, pid = send_program(bytes.fromhex(address), module, arguments, (0, 1, 2))

    def pass_on(number: int, _: FrameType | None) -> None:
        os.kill(pid, number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, pass_on)
    code = receive_status(line)
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
