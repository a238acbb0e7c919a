"""A process that holds the real services, as one Lambda instance does: one event a line on standard
input, one answer a line on standard output."""

from __future__ import annotations

import json
import sys

from tests.functions.support import functions


def main() -> None:
    handlers = functions()
    for handler in handlers.values():
        handler.lambda_handler.service()
    print("ready", flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        answer = handlers[request["function"]].lambda_handler(request["event"], None)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
