"""The Model Context Protocol: other people's servers as apps (`client/`)."""
