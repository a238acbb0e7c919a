"""A server of the official library, over stdin and stdout, in the newest protocol: it asks before it answers."""

import os
import sys
from typing import Annotated

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve
from pydantic import BaseModel

server = MCPServer("here")


class Table(BaseModel):
    seats: int


def table() -> Elicit[Table]:
    return Elicit("For how many?", Table)


@server.tool()
def shout(text: str) -> str:
    """Say it louder"""
    return text.upper()


@server.tool()
def book(day: str, asked: Annotated[Table, Resolve(table)]) -> str:
    """Book a table"""
    return f"{day}, {asked.seats} seats"


@server.tool()
def fall() -> str:
    """Fall"""
    print("no memory left", file=sys.stderr, flush=True)
    os._exit(9)


if __name__ == "__main__":
    server.run()
