"""What `make check` counts: how the code reads, as figures with their reasons."""
