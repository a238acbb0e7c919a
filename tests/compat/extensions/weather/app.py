"""The extension object and what it declares."""

from imperal_sdk import ChatExtension, Extension

WHOSE = "weather"

ext = Extension("weather", version="1.0.0", description="Says what the weather will be, and where.")
chat = ChatExtension(ext, description="Forecasts")

ext.secret("api_key", "Key of the forecast service", required=True)
ext.secret("refresh_token", "Written by the extension", write_mode="extension", max_bytes=16)
ext.secret("shared_key", "One for all users", scope="app")
