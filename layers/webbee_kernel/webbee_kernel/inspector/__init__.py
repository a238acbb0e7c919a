"""What the classifier sees, what it does not, and why. Pure: computed from what a turn read.

- `explain`    the whole report: blocks, apps that failed to load, sections, turns, functions
- `sections`   per section: raw data, what compression dropped by which rule, age, next refresh
- `turns`      per remembered turn: calls, guards, grounding, facts with their cuts and masks
- `functions`  per function: in the catalogue or why not, and how near the message's words are
- `search`     a value: every channel where it stands, where it was cut or masked

The report shows real values beside placeholders, so it is for the session's own user only.

May import: turn and what is below it. Entrance: `explain` and `search`.
"""

from .explain import explain
from .search import search

__all__ = ["explain", "search"]
