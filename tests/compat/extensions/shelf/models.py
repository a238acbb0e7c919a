"""Parameters and records."""

from datetime import date
from decimal import Decimal
from uuid import UUID

from pydantic import BaseModel, Field

WHOSE = "shelf"


class AddBook(BaseModel):
    title: str = Field(min_length=1, max_length=200, description="Its title")
    pages: int = Field(0, ge=0, le=20_000)


class BookId(BaseModel):
    book_id: str
    etag: str = ""


class Receipt(BaseModel):
    number: UUID
    bought: date
    price: Decimal
