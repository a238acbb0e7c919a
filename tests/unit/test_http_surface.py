"""ctx.http against a real server on loopback: its caps hold, and it opens no door into a private
network."""

import asyncio
import gzip
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.hasty_loop import HastyLoop
from tests.stand_ins.service import Reply, Request, served
from webbee_kernel.errors import ModelUnavailable
from webbee_kernel.extensions.context.http_client import MAX_BODY_BYTES, HttpClient
from webbee_kernel.llm.protocol import ModelResponse, ToolCall
from webbee_kernel.sdk import ActionResult, ChatExtension, Extension, HttpBlockedError
from webbee_kernel.sdk.context import HttpResponse
from webbee_kernel.sdk.net import is_allowed
from webbee_kernel.testing import ExtensionHarness, TestKernel


def page(request: Request) -> Reply:
    """`/echo`, `/hops/N`, `/to?url=&status=`, `/bytes/N`, `/bomb`, `/hang`, `/status/N`."""
    url = urlsplit(request.path)
    name, _, rest = url.path.strip("/").partition("/")
    query = {k: v[0] for k, v in parse_qs(url.query).items()}
    if name == "hops" and int(rest):
        return Reply(b"", 302, {"Location": f"/hops/{int(rest) - 1}"})
    if name == "to":
        return Reply(b"", int(query.get("status", 302)), {"Location": query["url"]})
    if name == "bytes":
        return Reply(b"x" * int(rest))
    if name == "bomb":
        zipped = gzip.compress(b"\0" * (MAX_BODY_BYTES + 1))
        return Reply(zipped, headers={"Content-Encoding": "gzip"})
    if name == "hang":
        return Reply(hang=True)
    if name == "status":
        return Reply(b"{", int(rest))
    seen = {"method": request.method, "path": request.path, "body": request.body.decode()}
    return Reply({**seen, "headers": request.headers})


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with served(answer=page) as service:
        yield service.url


@pytest.fixture(scope="module")
def other() -> Iterator[str]:
    with served(answer=page) as service:
        yield service.url


def get(url: str, method: str = "GET", *, private: bool = True, **kwargs: Any) -> HttpResponse:
    return asyncio.run(HttpClient(allow_private=private).request(method, url, **kwargs))


# ---- what it does


@pytest.mark.parametrize("method", ["get", "post", "put", "patch", "delete"])
def test_every_method_arrives_as_itself_past_the_proxies_of_the_environment(
    site: str, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    answer = asyncio.run(getattr(HttpClient(allow_private=True), method)(f"{site}/echo"))
    assert answer.json()["method"] == method.upper()


def test_an_error_status_is_an_answer_and_an_argument_it_does_not_know_is_named(site: str) -> None:
    answer = get(f"{site}/status/503")
    assert (answer.ok, answer.status_code, answer.text(), answer.body) == (False, 503, "{", b"{")
    with pytest.raises(ValueError):
        answer.json()
    with pytest.raises(TypeError, match="verify"):
        get(f"{site}/echo", verify=False)


ODD = {
    "nothing": "",
    "a space": " ",
    "None": None,
    "bytes": b"http://example.com/",
    "no address in brackets": "http://[example]/",
    "a port beyond all": "http://example.com:99999/",
    "a port of letters": "http://example.com:http/",
    "a zero byte": "http://exa\0mple.com/",
    "a line end": "http://example.com/\r\nX-A: 1",
    "a lone surrogate in the host": "http://\udfff.com/",
    "an endless label": f"http://{'a' * 64}.com/",
    "an empty label": "http://a..com/",
    "a space in the host": "http://exa mple.com/",
    "two schemes": "http://http://example.com",
    "only credentials": "http://user:pw@/",
    "a long path": f"http://a.invalid/{'x' * 70_000}",
}


@pytest.mark.parametrize("url", ODD.values(), ids=ODD.keys())
def test_an_odd_url_ends_with_a_documented_error(url: Any) -> None:
    for private in (True, False):
        with pytest.raises((HttpBlockedError, ConnectionError)):
            get(url, private=private)


def test_a_blocked_address_names_the_setting_that_opens_it_where_one_does(site: str) -> None:
    with pytest.raises(HttpBlockedError, match=r"; WEBBEE_HTTP_ALLOW_PRIVATE=true opens this one"):
        get(site, private=False)
    with pytest.raises(HttpBlockedError, match=r"closed to extensions$"):
        get("http://169.254.169.254/", private=False)


# ---- redirects


def test_five_redirects_are_followed_as_httpx_does_and_neither_a_sixth_nor_one_to_an_odd_url(
    site: str,
) -> None:
    assert get(f"{site}/hops/5").json()["path"] == "/hops/0"
    with pytest.raises(ValueError, match="more than 5 redirects"):
        get(f"{site}/hops/6")
    for location in ("http://[::1", "//[", "http://a:99999/", "http://a..b/"):
        with pytest.raises((HttpBlockedError, ConnectionError)):
            get(f"{site}/to", params={"url": location})
    changed = ((301, "POST"), (302, "POST"), (303, "PUT"), (302, "PUT"))
    for status, sent in (*changed, (307, "POST"), (308, "PUT")):
        seen = get(f"{site}/to?url=/echo&status={status}", sent, content=b"x").json()
        kept = (sent, "x") if status in (307, 308) else ("GET", "")
        assert (seen["method"], seen["body"]) == kept, status


def test_credentials_follow_on_the_same_host_and_never_to_another(site: str, other: str) -> None:
    secret = {"Authorization": "Bearer s3cret", "Cookie": "a=b", "Proxy-Authorization": "p"}
    secret |= {"X-Api-Key": "k", "PRIVATE-TOKEN": "t", "X-Mine": "1"}
    open_to_all = {"Accept-Language": "ru", "User-Agent": "probe"}
    named = {name.lower() for name in secret}
    elsewhere = [other, site.replace("127.0.0.1", "localhost")]
    for target, kept in [(f"{site}/echo", True), *((f"{host}/echo", False) for host in elsewhere)]:
        answer = get(f"{site}/to?url={target}", headers=secret | open_to_all, cookies={"c": "2"})
        seen = {name.lower() for name in answer.json()["headers"]}
        assert named & seen == (named if kept else set()), target
        assert {"accept-language", "user-agent"} <= seen


# ---- caps


def test_ten_megabytes_are_read_and_a_byte_more_refused_also_packed(site: str) -> None:
    assert len(get(f"{site}/bytes/{MAX_BODY_BYTES}").body) == MAX_BODY_BYTES
    for larger in (f"bytes/{MAX_BODY_BYTES + 1}", "bomb"):
        with pytest.raises(ValueError, match="larger than"):
            get(f"{site}/{larger}")


def seconds_until_given_up(url: str, **asked: Any) -> float:
    async def hang() -> float:
        started = asyncio.get_running_loop().time()
        with pytest.raises(TimeoutError, match=r"timeout= .* WEBBEE_CALL_SECONDS"):
            await HttpClient(allow_private=True).get(url, **asked)
        return asyncio.get_running_loop().time() - started

    with asyncio.Runner(loop_factory=HastyLoop) as runner:
        return runner.run(hang())


@pytest.mark.parametrize(
    ("path", "asked", "granted"),
    [
        ("hang", {}, 30),
        ("hang", {"timeout": None}, 30),
        ("to?url=/to?url=/hang", {"timeout": 60}, 60),  # every redirect together
    ],
)
def test_a_call_takes_what_it_asked_for_and_thirty_seconds_without_asking(
    site: str, path: str, asked: Any, granted: int
) -> None:
    assert seconds_until_given_up(f"{site}/{path}", **asked) == pytest.approx(granted, abs=0.5)


# ---- no door into a private network


INWARD = [
    "127.0.0.1", "127.8.9.10", "localhost", "LOCALHOST", "2130706433", "0x7f000001", "0177.0.0.1", "0x7f.1", "127.1", "0", "0.0.0.0",
    "10.0.0.1", "167772161", "172.16.0.1", "172.31.255.254", "192.168.1.1", "100.64.0.1", "198.18.0.1",
    "169.254.169.254", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.254.170.2",
    "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "[::127.0.0.1]", "[64:ff9b::a9fe:a9fe]",
    "[64:ff9b:1::a9fe:a9fe]", "[2002:a9fe:a9fe::1]", "[2001:0:0:0:0:0:5601:5601]", "[fd00:ec2::254]", "[fc00::1]", "[fe80::1]", "[fec0::1]",
    "224.0.0.1", "255.255.255.255", "240.0.0.1",
]  # fmt: skip


@pytest.mark.parametrize("host", INWARD)
def test_no_spelling_of_an_inward_address_is_let_through(host: str) -> None:
    with pytest.raises(HttpBlockedError):
        get(f"http://{host}:9/latest/meta-data/", private=False)


ADDRESSES = {
    (True, True): """8.8.8.8 1.1.1.1 2606:4700:4700::1111 64:ff9b::808:808 ::ffff:8.8.8.8
        2002:808:808::1 168.63.129.15 168.63.129.17 192.88.98.255 192.88.100.0 3ffe:ffff::1""",
    (False, True): "127.0.0.1 10.0.0.1 192.168.1.1 ::1 fc00::1 fec0::1",
    (False, False): """168.63.129.16 192.0.0.192 192.88.99.0 192.88.99.255 3fff:: 3fff:fff:ffff::1
        fd20:ce::254 fd00:ec2::254 ::ffff:168.63.129.16 64:ff9b::a83f:8110 2002:a83f:8110::1
        ::ffff:192.0.0.192""",
}
"""The public internet and the neighbours of closed networks; private networks, which a setting opens;
metadata services of clouds and networks of no host, which nothing opens."""


@pytest.mark.parametrize(
    ("address", "allowed"), [(one, key) for key, text in ADDRESSES.items() for one in text.split()]
)
def test_an_address_is_open_to_all_with_the_setting_or_to_nobody(
    address: str, allowed: tuple[bool, bool]
) -> None:
    assert tuple(is_allowed(address, allow_private=x) for x in (False, True)) == allowed


class OneName(HttpClient):
    """A client for which one public name leads to the test's own server; every other address takes
    the ordinary way."""

    async def _resolve(self, host: str, port: int) -> str:
        return "127.0.0.1" if host == "public.example" else await super()._resolve(host, port)


HERE = ["127.0.0.1:{port}/echo", "localhost:{port}/echo", "[::1]:{port}/"]


@pytest.mark.parametrize("target", [*HERE, "10.0.0.1/", "169.254.169.254/"])
def test_a_redirect_into_a_private_network_is_refused(site: str, target: str) -> None:
    port = urlsplit(site).port
    client = OneName(allow_private=False)
    with pytest.raises(HttpBlockedError):
        to = f"http://{target.format(port=port)}"
        asyncio.run(client.get(f"http://public.example:{port}/to?url={to}"))


def test_the_connection_goes_to_the_address_that_was_checked(site: str) -> None:
    url = f"http://public.example:{urlsplit(site).port}/echo"
    seen = asyncio.run(OneName(allow_private=False).get(url)).json()
    assert seen["headers"]["host"].startswith("public.example:")


def test_a_deployment_closes_private_networks_but_an_authors_tests_use_loopback(site: str) -> None:
    ext = Extension("app")
    chat = ChatExtension(ext)
    caught: list[str] = []

    @chat.function("fetch", "Fetch a page")
    async def fetch(ctx: Any) -> ActionResult:
        try:
            return ActionResult.success({"ok": (await ctx.http.get(f"{site}/echo")).ok}, "fetched")
        except HttpBlockedError as error:
            caught.append(str(error))
            raise

    assert ExtensionHarness(ext).call("fetch").data == {"ok": True} and not caught
    fetches = ModelResponse(tool_calls=(ToolCall("app__fetch", {}),))
    told = ModelResponse(text="There is no other way.")
    script = [fetches, told, ModelUnavailable("no narrator")]
    reply = TestKernel([ext], script=script).chat("fetch it")
    assert reply.body["calls"][0]["error_code"] == "INTERNAL" and "127.0.0.1" in caught[0]
