"""Measurements: `make bench` and `make eval`."""
