"""What the classifier sees, what it does not, and why. Pure: computed from what a turn read.

- `prompt_report`  the whole report: blocks, apps that failed to load, and per function whether it
                   is in the catalogue or why not, and how near the message's words are
- `memory_report`  per section: raw data, what compression dropped by which rule, age, next refresh;
                   per remembered turn: calls, guards, grounding, facts with their cuts and masks
- `value_search`   a value: every channel where it stands, where it was cut or masked

The report shows real values beside placeholders, so it is for the session's own user only.
Entrance: `explain` and `search`.
"""

from .prompt_report import explain
from .value_search import search

__all__ = ["explain", "search"]
