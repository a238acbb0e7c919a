"""Watches over everyone: schedules and signals as the system, acting for users; listens to events;
serves other extensions."""

from imperal_sdk import ActionResult, ChatExtension, Event, Extension

ext = Extension("warden", version="1.0.0", description="Makes rounds and remembers what it saw.")
chat = ChatExtension(ext, description="Rounds")
ext.secret("badge", "A user's badge")


@ext.schedule("rounds", cron="*/5 * * * *")
async def rounds(ctx):
    seen = []
    async for user_id in ctx.store.list_users("doors"):
        theirs = ctx.as_user(user_id)
        assert theirs.user.imperal_id == user_id
        assert theirs.user.attributes["scoped_from"] == "__system__"
        assert theirs.user.tenant_id == ctx.user.tenant_id
        doors, badge = await theirs.store.count("doors"), await theirs.secrets.get("badge")
        await theirs.store.create("rounds", {"doors": doors, "badge": badge})
        await theirs.notify(f"round done for {user_id}")
        seen.append(user_id)
    everyone = await ctx.store.query_all("doors", limit=100)
    told = {"users": sorted(seen), "doors": sorted(d.user_id for d in everyone)}
    await ctx.store.set("log/last", {**told, "as": ctx.user.imperal_id})


@ext.signal("user.created")
async def welcome(ctx, user_id="", **data):
    await ctx.store.for_user(user_id).set("welcome/letter", {"from": ctx.user.imperal_id, **data})


@ext.on_event("courier.posted")
async def on_posted(ctx, event):
    """An event, read in the three ways published handlers do."""
    assert isinstance(event, Event)
    told = {"attribute": event.data["text"], "key": event["text"], "type": event.event_type}
    await ctx.store.create("heard", {**told, "nested": event["data"]["text"]})


@ext.expose("report")
async def report(ctx, text="", **kwargs):
    return {"text": text.upper(), "user": ctx.user.imperal_id, "app": ctx.ext_id}


@chat.function("add_door", "Add a door", action_type="write")
async def add_door(ctx, name: str = "front") -> ActionResult:
    made = await ctx.store.create("doors", {"name": name})
    return ActionResult.success({"id": made.id}, "Added.")


@chat.function("pry", "Try to be somebody else", action_type="write")
async def pry(ctx) -> ActionResult:
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
