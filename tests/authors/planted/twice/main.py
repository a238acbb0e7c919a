"""Two sections of one name: only one would ever run."""

from webbee_kernel.sdk import Context, Extension

ext = Extension("twice", display_name="Twice", description="Parcels")


@ext.skeleton("parcels")
async def parcels(ctx: Context) -> dict[str, object]:
    return {"response": {"count": await ctx.store.count("parcels")}}


@ext.skeleton("parcels")  # planted: repeated-section
async def again(ctx: Context) -> dict[str, object]:
    return {"response": {"count": 0}}
