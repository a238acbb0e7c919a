"""The clients behind `ctx`: one module per surface."""
