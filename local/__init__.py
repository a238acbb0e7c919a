"""The kernel on one machine: `make run`, `make demo`, the command line.

Installed from pip it is the package `webbee_local`, beside `webbee_kernel`, with the command
`webbee`.
"""
