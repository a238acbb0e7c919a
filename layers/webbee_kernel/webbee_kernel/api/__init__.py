"""The HTTP face and the three functions: routes, wire models, errors as status codes.

May import: everything below. API Gateway routes; a table by route key answers.
Entrance: `function.Function` with a service: `chat_turn`, `tool_dispatch`, `skeleton_refresh`.
"""

import gc
import os

if "AWS_LAMBDA_RUNTIME_API" in os.environ:
    # until `Function` is built: imports leave no garbage worth looking for, and looking takes 8 %
    # of a cold start
    gc.disable()
