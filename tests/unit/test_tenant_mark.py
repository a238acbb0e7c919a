"""A webhook's address names its tenant, and only who holds the key can write one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webbee_kernel.aws.parameters import mark_of, tenant_of

TENANTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40)


@given(TENANTS)
def test_a_mark_leads_back_to_its_tenant_and_stands_in_any_address(tenant: str) -> None:
    mark = mark_of(tenant, "key")
    assert tenant_of(mark, "key") == tenant
    assert mark.isascii()
    assert not set(mark) & set("/?#%&= ")


@given(TENANTS, TENANTS)
def test_no_two_tenants_share_a_mark(one: str, other: str) -> None:
    assert (mark_of(one, "key") == mark_of(other, "key")) == (one == other)


@pytest.mark.parametrize(
    "forged",
    [
        "",
        "~",
        "acme",
        "~acme",
        "~acme.",
        "~acme.aaaaaaaaaaaaaaaaaaaaaaaa",
        mark_of("acme", "another key"),
        mark_of("acme", "key").replace("acme", "umbrella"),
        mark_of("acme", "key").upper(),
        mark_of("acme", "key") + "a",
        mark_of("acme", "key")[:-1],
        mark_of("acme", "key").replace("acme", "_61_cme"),
        "~_110000_." + "a" * 24,
        "~_ffffffffff_." + "a" * 24,
    ],
)
def test_a_mark_that_was_not_made_with_the_key_names_nobody(forged: str) -> None:
    assert tenant_of(forged, "key") is None


def test_without_a_key_there_are_no_marks() -> None:
    assert mark_of("acme", "") == ""
    assert tenant_of(mark_of("acme", "key"), "") is None
