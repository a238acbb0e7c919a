"""The parts of the `webbee` command line: talking to an API, writing and checking extensions,
checking a deployment."""
