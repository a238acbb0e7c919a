"""Builds its clients itself, out of private attributes, and speaks HTTP to the gateway in every way
Python has."""

import asyncio
import json
import urllib.parse
import urllib.request

import httpx
from imperal_sdk import ActionResult, ChatExtension, Document, Extension, Page
from imperal_sdk.ai.client import AIClient
from imperal_sdk.notify.client import NotifyClient
from imperal_sdk.store.client import StoreClient
from imperal_sdk.store.exceptions import StoreConflict

ext = Extension("mason", version="1.0.0", description="Builds by itself what others are given.")
chat = ChatExtension(ext, description="Building")
STORE = "/v1/internal/store"


def told(**data):
    return ActionResult.success(data, "")


def build(ctx, user_id=""):
    """A store client, as published helpers make it."""
    return StoreClient(
        gateway_url=ctx.store._gateway_url,
        service_token=ctx.store._auth_token,
        extension_id=ctx.store._extension_id,
        user_id=user_id or ctx.store._user_id,
        tenant_id=ctx.store._tenant_id,
    )


def seen(found, *more):
    """What both kinds of client say of a document, a page of them, or a list."""
    if isinstance(found, Page):
        return [[seen(d) for d in found], found.cursor, found.has_more, found.total]
    if isinstance(found, list):
        return [seen(d) for d in found]
    if isinstance(found, Document):
        names = ("id", "collection", "data", "created_at", "updated_at", *more)
        return [getattr(found, name) for name in names]
    return found


DATA = {
    "text": 'Ёж 🦔 \u2028 " \\ #',
    "n": 2**60,
    "f": 0.1,
    "none": None,
    "deep": [{"a": [1, True]}],
}
ODD = ("a b", "a/b", "50% off?", "ключ", "a&b=c+d", "list_users", "all")
READS = (
    ("get", "bricks", "none"),
    ("get", "bricks/all"),
    ("count", "walls.of-stone:1_2"),
    ("query", "bricks", {}, None, 100),
    ("query", "bricks", {"n": 1}, None, 100),
    ("query", "bricks", None, "-n", 3),
    ("query", "bricks", None, None, 2),
    ("count", "bricks", {}),
    ("count", "bricks", {"n": 1}),
    ("list", "bricks"),
    ("query", "none"),
)
"""What gives the same by either client."""


async def differences(given, built):
    """Where the client that was given and the one that was built disagree; every method of the
    built one is called."""
    wrong = []

    def equal(name, one, other):
        if one != other:
            wrong.append([name, repr(one), repr(other)])

    made = await built.create("bricks", DATA)
    read, other = await given.get("bricks", made.id), await built.get("bricks", made.id)
    equal("create", seen(read), seen(made))
    equal("get", seen(read, "etag"), seen(other, "etag"))
    equal("get by path", seen(read), seen(await built.get(f"bricks/{made.id}")))
    newer = await built.update("bricks", made.id, {"n": 1}, if_match=read.etag)
    found = await given.get("bricks", made.id)
    equal("update", seen(found, "etag"), seen(newer, "etag"))
    equal("update keeps", found["text"], DATA["text"])
    conflicts = []
    for client in (given, built):
        try:
            await client.update("bricks", made.id, {"n": 2}, if_match=read.etag)
        except StoreConflict as conflict:
            conflicts.append([conflict.doc_id, conflict.expected_etag, conflict.current_etag])
    equal("conflict", *conflicts)
    for n, name in enumerate(ODD):
        # As they are where HTTP lets them be, else encoded, which is up to who writes a URL.
        encoded = urllib.parse.quote(name) if set(name) & set("%?") else name
        there = await built.update("bricks", encoded, {"n": n})
        found = await given.get("bricks", name)
        equal(f"update {name}", seen(found), seen(there))
        equal(f"id of {name}", name, found.id)
    await built.set("bricks/all", {"n": 9})
    for client in (given, built):
        await client.create("walls.of-stone:1_2", {"by": "somebody"})
    for method, *args in READS:
        one, other = [seen(await getattr(client, method)(*args)) for client in (given, built)]
        equal(f"{method} {args}", one, other)
    large = await built.create("bricks", {"large": "ю" * 150_000})
    equal("large", (await built.get("bricks", large.id))["large"], "ю" * 150_000)
    gone = [await built.delete("bricks", made.id) for _ in range(2)]
    equal("delete", [True, False, None], [*gone, await given.get("bricks", made.id)])
    return wrong


async def announce(ctx, user_id):
    """The same notification by the client that was given and by one that was built."""
    given, own = ctx.notify, ctx.notify._extension_id
    built = NotifyClient(given._gateway_url, given._auth_token, user_id, extension_id=own)
    for client in (given if user_id == ctx.user.imperal_id else given.for_user(user_id), built):
        await client("loud", priority="high", channel="email")
        await client.send("quiet")


@chat.function("compare", "Compare clients", action_type="write")
async def compare(ctx) -> ActionResult:
    await announce(ctx, ctx.user.imperal_id)
    return told(wrong=await differences(ctx.store, build(ctx)))


@ext.webhook("compare")
async def compare_for(ctx, headers, body, query_params):
    user_id = query_params["user"]
    await announce(ctx, user_id)
    both = (ctx.store, build(ctx, "__system__"))
    wrong = await differences(ctx.store.for_user(user_id), build(ctx, user_id))
    all_of = [[[*seen(d), d.user_id] for d in await c.query_all("bricks")] for c in both]
    return {
        "wrong": wrong,
        "owners": sorted({d[-1] for d in all_of[0]}) if all_of[0] == all_of[1] else all_of,
        "users": [[u async for u in c.list_users("bricks", page_size=1)] for c in both],
        "three": [len(await c.query_all("bricks", limit=3)) for c in both],
    }


@ext.schedule("compare", cron="0 * * * *")
async def compare_each(ctx):
    """For everyone, by a client of each user's own context, which nobody keeps."""
    everyone = build(ctx)
    users = [u async for u in everyone.list_users("bricks", page_size=2)]
    report = {"as": everyone._user_id, "wrong": [], "users": users}
    for user_id in users:
        theirs = build(ctx.as_user(user_id))
        report["wrong"] += await differences(ctx.as_user(user_id).store, theirs)
        await theirs.create("signed", {"by": theirs._user_id})
    await everyone.create("reports", report)


def blocking(ctx, path, body):
    """A request that blocks its thread."""
    sent = {"X-Service-Token": ctx._service_token, "Content-Type": "application/json"}
    asked = urllib.request.Request(ctx._gateway_url + path, json.dumps(body).encode(), sent)
    with urllib.request.urlopen(asked, timeout=60) as answer:
        return json.loads(answer.read())


@chat.function("raw", "Plain HTTP", action_type="write")
async def raw(ctx) -> ActionResult:
    """By a client that waits, by one that blocks the event loop, and by `ctx.http`."""

    def by(who):
        return {"collection": "raw", "data": {"by": who}}

    bearer = {"Authorization": f"Bearer {ctx._service_token}"}
    async with httpx.AsyncClient(base_url=ctx._gateway_url, headers=bearer) as client:
        first = (await client.post(STORE, json=by("httpx"))).json()
        again = (await client.get(f"{STORE}/raw/{first['id']}")).json()
    blocking(ctx, STORE, by("urllib"))
    sent = await ctx.http.post(ctx._gateway_url + STORE, json=by("ctx.http"), headers=bearer)
    found = blocking(ctx, f"{STORE}/raw/query", {"limit": 10})
    whose = [first[name] for name in ("extension_id", "tenant_id", "user_id")]
    return told(
        same=first == again,
        owner=[*whose, bool(first["etag"])],
        status=sent.status_code,
        by=[d["data"]["by"] for d in found["data"]],
    )


@ext.tool("raw_sync")
def raw_sync(ctx, text: str = "") -> dict:
    said = {"ext_id": "mason", "text": text, "msg_type": "system", "refresh_panels": ["wall"]}
    blocking(ctx, "/v1/internal/chat/inject", said)
    blocking(ctx, "/v1/internal/notify", {"message": text})
    return blocking(ctx, f"{STORE}/raw/count", {})


@chat.function("many", "Fifty at once", action_type="write")
async def many(ctx, count: int = 50) -> ActionResult:
    client, own = build(ctx), {"of": ctx.user.imperal_id}
    made = await asyncio.gather(*(client.create("many", {"n": n, **own}) for n in range(count)))
    found = await asyncio.gather(*(client.get("many", d.id) for d in made))
    assert [d.data for d in found] == [{"n": n, **own} for n in range(count)]
    return told(count=await client.count("many"))


@chat.function("complete", "Ask the model", action_type="read")
async def complete(ctx) -> ActionResult:
    url, token, own = ctx.ai._gateway_url, ctx.ai._service_token, ctx.ai._extension_id
    built = await AIClient(url, service_token=token, extension_id=own).complete("to Ann")
    return told(same=vars(built) == vars(await ctx.ai.complete("to Ann")), text=built.text)


@chat.function("keep", "Tell the token", action_type="read")
async def keep(ctx) -> ActionResult:
    shown = repr(ctx) + repr(ctx.store)
    return told(url=ctx._gateway_url, token=ctx._service_token, shown=shown)


@chat.function("fetch", "Fetch an address", action_type="read")
async def fetch(ctx, url: str, own: bool = False) -> ActionResult:
    headers = {"X-Service-Token": ctx._service_token} if own else {}
    try:
        return told(status=(await ctx.http.get(url, headers=headers)).status_code)
    except Exception as error:
        return ActionResult.error("refused", code=type(error).__name__.upper())


# ---- the state of a sign-in, kept where its webhook finds it


async def by_request(ctx, collection, data):
    whose = {"user_id": "__webhook__", "extension_id": "mason"}
    blocking(ctx, STORE, {**whose, "collection": collection, "data": data})


WAYS = {
    "client": lambda ctx, *doc: build(ctx, "__webhook__").create(*doc),
    "request": by_request,
    "for_user": lambda ctx, *doc: ctx.store.for_user("__webhook__").create(*doc),
}


@chat.function("connect", description="Connect the account", action_type="write", event="connected")
async def connect(ctx, way: str) -> ActionResult:
    await WAYS[way](ctx, "states", {"state": f"by-{way}", "user": ctx.user.imperal_id})
    return ActionResult.success({"url": ctx.webhook_url("callback")}, "Open the address.")


@ext.webhook("callback", method="GET")
async def callback(ctx, headers, body, query_params):
    found = await ctx.store.query("states", where={"state": query_params["state"]})
    if not found.data:
        return {"status_code": 403, "body": "no such state"}
    user = found.data[0].data["user"]
    await ctx.as_user(user).store.create("accounts", {"by": query_params["state"]})
    return {"user": user}
