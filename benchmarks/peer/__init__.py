"""The kernel beside another framework and beside nothing: the same turn over the same table, the
same model without latency, the same tool, in one run."""
