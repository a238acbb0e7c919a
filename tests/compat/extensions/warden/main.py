"""Watches over everyone: schedules and signals as the system, acting for users; listens to events;
serves other extensions."""

from imperal_sdk import ActionResult, ChatExtension, Event, Extension
from imperal_sdk.notify.client import NotifyClient
from imperal_sdk.store.client import StoreClient

ext = Extension(
    "warden",
    version="1.0.0",
    description="Makes rounds every five minutes and remembers what it saw.",
)
chat = ChatExtension(ext, description="Rounds")
ext.secret("badge", "A user's badge")


@ext.schedule("rounds", cron="*/5 * * * *")
async def rounds(ctx):
    """For each user who has a door: look at it, as that user."""
    seen = []
    async for user_id in ctx.store.list_users("doors"):
        theirs = ctx.as_user(user_id)
        assert theirs.user.imperal_id == user_id
        assert theirs.user.attributes["scoped_from"] == "__system__"
        assert theirs.user.tenant_id == ctx.user.tenant_id
        await theirs.store.create(
            "rounds",
            {
                "doors": await theirs.store.count("doors"),
                "badge": await theirs.secrets.get("badge"),
            },
        )
        await theirs.notify(f"round done for {user_id}")
        seen.append(user_id)
    everyone = await ctx.store.query_all("doors", limit=100)
    await ctx.store.set(
        "log/last",
        {
            "users": sorted(seen),
            "doors": sorted(d.user_id for d in everyone),
            "as": ctx.user.imperal_id,
        },
    )


@ext.signal("user.created")
async def welcome(ctx, user_id="", **data):
    """A platform signal."""
    await ctx.store.for_user(user_id).set("welcome/letter", {"from": ctx.user.imperal_id, **data})


@ext.on_event("courier.posted")
async def on_posted(ctx, event):
    """An event, read in the three ways published handlers do."""
    assert isinstance(event, Event)
    await ctx.store.create(
        "heard",
        {
            "attribute": event.data["text"],
            "key": event["text"],
            "nested": event["data"]["text"],
            "type": event.event_type,
        },
    )


@ext.on_event("shelf.added")
async def on_added(ctx, event):
    """What a chat function publishes by its `event=`."""
    await ctx.store.create("heard", {"added": event.get("title")})


@ext.expose("report")
async def report(ctx, text="", **kwargs):
    """For other extensions."""
    return {"text": text.upper(), "user": ctx.user.imperal_id, "app": ctx.ext_id}


@chat.function("add_door", "Add a door", action_type="write")
async def add_door(ctx, name: str = "front") -> ActionResult:
    """A document the rounds will find."""
    made = await ctx.store.create("doors", {"name": name})
    return ActionResult.success({"id": made.id}, "Added.")


@ext.webhook("visit")
async def visit(ctx, headers, body, query_params):
    """Builds clients by hand, as extensions did before `for_user`."""
    user_id = query_params["user"]
    theirs = StoreClient(
        gateway_url=ctx.store._gateway_url,
        service_token=ctx.store._auth_token,
        extension_id=ctx.store._extension_id,
        user_id=user_id,
        tenant_id=ctx.store._tenant_id,
    )
    made = await theirs.create("visits", {"by": ctx.user.imperal_id})
    assert (await theirs.query("visits")).data[0].id == made.id
    await NotifyClient(ctx.store._gateway_url, ctx.store._auth_token, user_id)("somebody was here")
    everyone = StoreClient(ctx.store._gateway_url, ctx.store._auth_token, user_id="__system__")
    return {"owners": [u async for u in everyone.list_users("visits")]}


@chat.function("forge", "Build clients for others", action_type="write")
async def forge(
    ctx, user_id: str = "alice", app: str = "warden", tenant: str = "acme", token: str = ""
) -> ActionResult:
    """From an ordinary request."""
    client = StoreClient(ctx._gateway_url, token or ctx._service_token, app, user_id, tenant)
    try:
        made = await client.create("visits", {"forged": True})
    except Exception as error:
        return ActionResult.error("refused", code=type(error).__name__.upper())
    return ActionResult.success({"id": made.id, "count": await client.count("visits")}, "")


@chat.function("pry", "Try to be somebody else", action_type="write")
async def pry(ctx) -> ActionResult:
    """Every way to another user, from an ordinary request."""
    tries = {
        "as_user": lambda: ctx.as_user("bob"),
        "store": lambda: ctx.store.for_user("bob"),
        "secrets": lambda: ctx.secrets.for_user("bob"),
        "notify": lambda: ctx.notify.for_user("bob"),
    }
    errors = {}
    for name, attempt in tries.items():
        try:
            attempt()
        except RuntimeError as error:
            errors[name] = type(error).__name__
    for name, users in {"list_users": ctx.store.list_users("doors"), "query_all": None}.items():
        try:
            _ = [u async for u in users] if users else await ctx.store.query_all("doors")
        except RuntimeError as error:
            errors[name] = type(error).__name__
    return ActionResult.success({"errors": errors}, "")
