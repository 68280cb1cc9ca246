"""Clients of a desk that will be killed: they talk until the line goes dead, or it is over."""

from __future__ import annotations

import asyncio

import aiohttp

from tests.faults.checks.ledger import QUESTIONS, Ledger, Post

POSTING = 24
ASKING = 4
"""How many clients post to threads, and how many ask over AHP."""


async def talk(url: str, ledger: Ledger, over: asyncio.Event, pause: float = 0) -> None:
    """Post and ask with all clients at once until the server is gone, or it is over.

    Parameters:
        pause: seconds that a client waits after each answer.
    """
    async with aiohttp.ClientSession(url) as web:
        clients = [_post_until_dead(web, ledger, over, pause) for _ in range(POSTING)]
        asking = [_ask_until_dead(web, ledger, over, pause) for _ in range(ASKING)]
        await asyncio.gather(*clients, *asking)


async def settle(url: str, ledger: Ledger) -> None:
    """Send again what was cut off, until all of it is acknowledged."""
    async with aiohttp.ClientSession(url) as web:
        while ledger.unsettled:
            await _post(web, ledger, ledger.unsettled.popleft())


async def _post_until_dead(
    web: aiohttp.ClientSession, ledger: Ledger, over: asyncio.Event, pause: float
) -> None:
    while not over.is_set():
        post = ledger.next()
        try:
            await _post(web, ledger, post)
        except aiohttp.ClientError:
            ledger.unsettled.append(post)
            return
        await asyncio.sleep(pause)


async def _post(web: aiohttp.ClientSession, ledger: Ledger, post: Post) -> None:
    headers = {"Idempotency-Key": post.key}
    if post.waits:
        headers["Prefer"] = "wait=10"
    if post.thread_id is None:
        path, body = "/v1/threads", {"messages": [post.text]}
    else:
        path, body = f"/v1/threads/{post.thread_id}/messages", {"content": [post.text]}
    async with web.post(path, json=body, headers=headers) as response:
        answer = await response.json()
    if response.status == 200:
        ledger.acknowledge(post, answer)
    else:
        ledger.refused += 1


async def _ask_until_dead(
    web: aiohttp.ClientSession, ledger: Ledger, over: asyncio.Event, pause: float
) -> None:
    """Converse in sessions of three turns; a crash may lose their records, whole turns only."""
    while not over.is_set():
        asked = {"ahp": "0.1", "capability": "content_search", "query": QUESTIONS[0]}
        for question in QUESTIONS[1:4]:
            try:
                async with web.post("/agent/converse", json=asked) as response:
                    answer = await response.json()
            except aiohttp.ClientError:
                return
            if response.status != 200:
                ledger.refused += 1
                break
            asked |= {"query": question, "session_id": answer["session_id"]}
            await asyncio.sleep(pause)
