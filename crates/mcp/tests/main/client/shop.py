"""A small FastMCP server: a sum, some progress, a failure and a prompt."""

from fastmcp import Context, FastMCP

shop = FastMCP("shop")


@shop.tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@shop.tool
async def pack(items: int, ctx: Context) -> str:
    """Packs items, one after the other."""
    for item in range(items):
        await ctx.report_progress(item + 1, items, f"item {item + 1}")
    return f"packed {items}"


@shop.tool
def break_down() -> str:
    """Fails."""
    raise ValueError("the shop is closed")


@shop.prompt
def greet(name: str) -> str:
    """Greets somebody."""
    return f"Say hello to {name}."


shop.run(show_banner=False)
