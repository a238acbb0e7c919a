"""What is cached."""

from app import ext
from pydantic import BaseModel

WHOSE = "weather"


@ext.cache_model("forecast")
class Forecast(BaseModel):
    city: str
    degrees: int
