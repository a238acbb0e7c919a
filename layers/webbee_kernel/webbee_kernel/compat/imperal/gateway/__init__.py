"""The HTTP gateway that clients built by hand, or plain HTTP of an extension's own, find at
`ctx.store._gateway_url`.

- `server`    the socket: loopback only, threads of its own, one answer a connection
- `dispatch`  which route, and who may ask for whom
- `routes`    what is served, over the clients that `ctx` has
- `wire`      requests, answers and what bodies have to hold

It starts when an extension first reads the address (`handbuilt.py`), so the others neither wait for
it nor import it.
"""
