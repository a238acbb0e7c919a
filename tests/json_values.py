"""Any JSON, for tests that hold for all of it."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy


def json_values(
    texts: SearchStrategy[str] | None = None,
    *,
    finite: bool = True,
    items: int = 4,
    fields: int = 4,
    leaves: int = 12,
) -> SearchStrategy[Any]:
    """Values that JSON can hold; their texts and keys are these."""
    words = st.text() if texts is None else texts
    floats = st.floats(allow_nan=not finite, allow_infinity=not finite)
    return st.recursive(
        st.none() | st.booleans() | st.integers() | floats | words,
        lambda inner: (
            st.lists(inner, max_size=items) | st.dictionaries(words, inner, max_size=fields)
        ),
        max_leaves=leaves,
    )
