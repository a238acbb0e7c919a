"""Does not load: the page says so, and why."""

raise RuntimeError("<b>no feathers</b>")
