"""Pages are there to be read: any other method is refused, where there is a page."""

from __future__ import annotations

import pytest

from tests.support.clients.ahp import CONTENT, CONVERSE, Visitor

pytestmark = pytest.mark.asyncio(loop_scope="module")

JSON = {"Accept": "application/json"}


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
@pytest.mark.parametrize(
    "path",
    ["/", "/about", "/about/", "/about.md", "/policies/returns", "/index.md", CONTENT],
)
async def test_a_page_takes_no_other_method_and_says_which_it_takes(
    visitor: Visitor, method: str, path: str
) -> None:
    async with visitor.http.request(method, path, headers=JSON) as response:
        assert response.status == 405
        assert response.headers["Allow"] == "GET, HEAD"


async def test_a_head_request_is_refused_as_get_is(visitor: Visitor) -> None:
    for path in (CONVERSE, "/v1/threads"):
        told = []
        for method in ("GET", "HEAD"):
            async with visitor.http.request(method, path) as response:
                assert response.status == 405
                told.append({n: v for n, v in response.headers.items() if n != "Date"})
        assert told[0] == told[1]


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
@pytest.mark.parametrize("path", ["/nowhere", "/policies/nowhere.md", "/about/more", "/%2e%2e/x"])
async def test_where_there_is_no_page_no_method_helps(
    visitor: Visitor, method: str, path: str
) -> None:
    async with visitor.http.request(method, path, headers=JSON) as response:
        assert response.status == 404
        assert "Allow" not in response.headers
