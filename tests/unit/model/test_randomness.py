"""Unpredictable bytes, fetched many at a time and given once."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

from aitp_desk.model.randomness import PIECE_BYTES, random_piece

MANY = 2000
"""More pieces than are fetched at a time."""


def test_pieces_are_given_once_also_to_threads() -> None:
    with ThreadPoolExecutor(4) as threads:
        drawn = [
            piece
            for pieces in threads.map(lambda _: [random_piece() for _ in range(MANY)], range(4))
            for piece in pieces
        ]
    assert len(set(drawn)) == 4 * MANY
    assert {len(piece) for piece in drawn} == {PIECE_BYTES}


def test_a_child_process_is_given_other_pieces() -> None:
    random_piece()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, random_piece())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, PIECE_BYTES) != random_piece()
    os.close(reading)
    os.close(writing)
