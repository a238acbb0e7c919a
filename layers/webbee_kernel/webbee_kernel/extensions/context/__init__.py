"""What `ctx` offers a handler: one client a module, and the factory that puts them together."""
