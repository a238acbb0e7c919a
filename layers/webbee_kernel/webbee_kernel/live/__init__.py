"""What travels over open WebSockets: frames, who gets them, and the stream of events that feeds
them.

May import: events and all below. Entrance: `pushing.Pusher`; the frames are described in
docs/live.md.
"""

from __future__ import annotations
