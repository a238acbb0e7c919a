"""The HTTP face: routes, wire models, errors as status codes. API Gateway routes; a table by route
key answers."""

import gc
import os

if "AWS_LAMBDA_RUNTIME_API" in os.environ:
    # until `Function` is built: imports leave no garbage worth looking for, and looking takes 8 %
    # of a cold start
    gc.disable()
