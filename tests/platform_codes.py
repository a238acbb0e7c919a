"""The error codes that a call may end with; extensions may add their own."""

PLATFORM_CODES = frozenset(
    {
        "VALIDATION_MISSING_FIELD",
        "VALIDATION_TYPE_ERROR",
        "FABRICATED_ID_SHAPE",
        "UNKNOWN_TOOL",
        "UNKNOWN_SUB_FUNCTION",
        "PERMISSION_DENIED",
        "BACKEND_TIMEOUT",
        "BACKEND_5XX",
        "RATE_LIMITED",
        "INTERNAL",
        "EXT_UNSTRUCTURED_ERROR",
    }
)
