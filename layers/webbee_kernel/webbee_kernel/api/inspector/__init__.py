"""What the classifier sees, what it does not, and why. Pure: computed from a turn's reads.

- `prompt_report`  the whole report: blocks, sections, remembered turns, functions
- `value_search`   a value: every channel where it stands, where it was cut or masked

The report shows real values beside placeholders, so it is for the session's own user only.
Entrance: `explain` and `search`.
"""

from .prompt_report import explain
from .value_search import search

__all__ = ["explain", "search"]
