"""The HTTP gateway that clients built by hand, or plain HTTP of an extension's own, find at `ctx.store._gateway_url`.

    call      what one call carries: the address and a token for its app, tenant and user
    server    the socket: loopback only, threads of its own, one answer a connection
    dispatch  which route, and who may ask for whom
    routes    what is served, over the clients that `ctx` has
    wire      requests, answers and what bodies have to hold

It starts when an extension first reads the address, so the others neither wait for it nor import it.
"""

from .call import Gateway, HandBuilt, open_for

__all__ = ["Gateway", "HandBuilt", "open_for"]
