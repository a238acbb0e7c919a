"""The HTTP face: routes, wire models, errors as status codes. API Gateway routes; a table by route key answers."""
