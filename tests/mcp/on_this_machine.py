"""A server of the official library, over stdin and stdout."""

from mcp.server.mcpserver import MCPServer

server = MCPServer("here")


@server.tool()
def shout(text: str) -> str:
    """Say it louder"""
    return text.upper()


if __name__ == "__main__":
    server.run()
