"""The three channels that feed live state into a turn."""
