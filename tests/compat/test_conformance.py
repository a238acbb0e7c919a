"""The SDK's own public tests that apply to a kernel's context, restated against ours.

Its sdist ships them (`tests/`, Apache-2.0); none is copied. `APPLIES` names each one and the test
here or beside that holds the same promise; `docs/compatibility.md` shows the table, and says which
do not apply and why.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from pathlib import Path
from typing import Any

import imperal_sdk
import pytest
from imperal_sdk import (
    ChatExtension,
    Context,
    Document,
    Extension,
    Page,
    SkeletonAccessForbidden,
    ui,
)
from imperal_sdk.catalog import callable_function_names
from imperal_sdk.store.exceptions import StoreConflict
from pydantic import BaseModel, ValidationError

from tests.compat.conftest import BOB, EXTENSIONS, Bench
from webbee_kernel.compat.imperal.adopt import adopt
from webbee_kernel.extensions.registry import LoadedExtension, Registry
from webbee_kernel.sdk import User

SYSTEM = User(imperal_id="__system__", role="system", tenant_id="acme", scopes=("*",))
PAGE = (Path(__file__).resolve().parents[2] / "docs" / "compatibility.md").read_text("utf-8")

APPLIES = {
    "test_context.test_context_creation": "test_a_context_has_every_client",
    "test_context.test_context_with_mock_store": "test_a_store_returns_the_sdks_documents",
    "test_context.test_context_extension_id": "test_a_context_bears_the_folders_id",
    "test_context.test_extensions_field_exists": "test_a_context_has_every_client",
    "test_context.test_progress_with_callback": "test_completions_progress_and_log",
    "test_context.test_log": "test_a_log_line_is_awaited_at_any_level",
    "test_as_user.test_as_user_raises_if_not_system": "test_as_user_wants_a_system_context",
    "test_as_user.test_as_user_rejects_empty_or_system": "test_as_user_wants_a_user",
    "test_as_user.test_as_user_preserves_extension_tenant_agency": (
        "test_as_user_changes_the_user_and_nothing_else"
    ),
    "test_as_user.test_as_user_changes_only_user_id": (
        "test_as_user_changes_the_user_and_nothing_else"
    ),
    "test_as_user.test_as_user_rewires_store_with_new_user_id": (
        "test_as_user_moves_store_secrets_and_notify"
    ),
    "test_as_user.test_as_user_carries_secrets_rebound_to_new_user": (
        "test_as_user_moves_store_secrets_and_notify"
    ),
    "test_context_background_task.test_background_task_returns_task_id_str": (
        "test_background_work_arrives_as_an_event"
    ),
    "test_context_deliver_chat_message.test_deliver_chat_message_truncates_oversized_text": (
        "test_messages_outside_the_reply_are_events"
    ),
    "test_context_deliver_chat_message.test_deliver_chat_message_with_refresh_panels": (
        "test_messages_outside_the_reply_are_events"
    ),
    "test_context_guards.test_skeleton_guard_allows_skeleton_context": (
        "test_a_section_reads_its_last_snapshot_and_alerts_once"
    ),
    "test_context_guards.test_skeleton_guard_blocks_panel": "test_the_skeleton_is_closed_to_others",
    "test_context_guards.test_skeleton_guard_blocks_tool": "test_the_skeleton_is_closed_to_others",
    "test_context_guards.test_skeleton_guard_blocks_chat_fn": (
        "test_the_skeleton_is_closed_to_others"
    ),
    "test_context_guards.test_skeleton_guard_has_no_update_method": (
        "test_the_skeleton_has_no_writer"
    ),
    "test_context_guards.test_skeleton_access_forbidden_is_permission_error": (
        "test_the_skeleton_is_closed_to_others"
    ),
    "test_context_guards.test_context_class_has_no_skeleton_data_attr_assignment": (
        "test_the_skeleton_has_no_writer"
    ),
    "test_cache_client.test_get_validates_key_length": (
        "test_the_cache_keeps_the_sdks_stricter_rules"
    ),
    "test_cache_client.test_get_validates_key_chars_slash": (
        "test_the_cache_keeps_the_sdks_stricter_rules"
    ),
    "test_cache_client.test_get_validates_key_chars_wildcard": "test_a_cache_key_is_checked",
    "test_cache_client.test_get_validates_key_empty": "test_a_cache_key_is_checked",
    "test_cache_client.test_set_ttl_too_low": "test_the_cache_keeps_the_sdks_stricter_rules",
    "test_cache_client.test_set_ttl_too_high": "test_the_cache_keeps_the_sdks_stricter_rules",
    "test_cache_client.test_set_ttl_boundaries_ok": "test_a_ttl_may_touch_its_bounds",
    "test_cache_client.test_set_non_pydantic_raises": (
        "test_the_cache_keeps_the_sdks_stricter_rules"
    ),
    "test_cache_client.test_set_unregistered_model_raises": (
        "test_the_cache_keeps_the_sdks_stricter_rules"
    ),
    "test_cache_client.test_get_non_pydantic_model_raises": (
        "test_the_cache_keeps_the_sdks_stricter_rules"
    ),
    "test_cache_client.test_set_value_over_64kb_raises": (
        "test_the_cache_keeps_the_sdks_stricter_rules"
    ),
    "test_cache_client.test_get_returns_none_on_404": (
        "test_a_cached_value_comes_back_under_its_own_model_only"
    ),
    "test_cache_client.test_get_returns_model_on_hit": (
        "test_a_cached_value_comes_back_under_its_own_model_only"
    ),
    "test_cache_client.test_get_returns_none_on_model_mismatch": (
        "test_a_cached_value_comes_back_under_its_own_model_only"
    ),
    "test_cache_client.test_delete_ok_on_404": (
        "test_a_cached_value_comes_back_under_its_own_model_only"
    ),
    "test_cache_client.test_delete_iterates_all_registered_models": (
        "test_a_cached_value_comes_back_under_its_own_model_only"
    ),
    "test_cache_client.test_delete_no_models_registered_is_noop": "test_deleting_needs_no_model",
    "test_cache_client.test_get_or_fetch_uses_cache_when_present": (
        "test_a_forecast_is_fetched_once_with_the_users_key"
    ),
    "test_cache_client.test_get_or_fetch_invokes_fetcher_on_miss": (
        "test_a_forecast_is_fetched_once_with_the_users_key"
    ),
    "test_cache_client.test_get_or_fetch_wrong_type_raises": (
        "test_a_fetcher_of_the_wrong_type_is_refused"
    ),
    "test_cache_client.test_get_or_fetch_oversized_write_serves_fresh_value": (
        "test_a_fetched_value_too_large_to_keep_is_served"
    ),
    "test_config_client.test_get_simple": "test_configuration_is_read_by_dots_sections_and_whole",
    "test_config_client.test_get_dot_notation": (
        "test_configuration_is_read_by_dots_sections_and_whole"
    ),
    "test_config_client.test_get_missing_returns_default": (
        "test_configuration_is_read_by_dots_sections_and_whole"
    ),
    "test_config_client.test_get_section": "test_configuration_is_read_by_dots_sections_and_whole",
    "test_config_client.test_get_section_missing": (
        "test_configuration_is_read_by_dots_sections_and_whole"
    ),
    "test_config_client.test_all": "test_configuration_is_read_by_dots_sections_and_whole",
    "test_http_json_and_mock.test_json_returns_list_for_array_body": (
        "test_http_answers_and_fails_as_in_the_sdk"
    ),
    "test_http_json_and_mock.test_json_dict_body": "test_http_answers_and_fails_as_in_the_sdk",
    "test_http_timeout_override.test_post_rejects_over_180s_cap": (
        "test_http_answers_and_fails_as_in_the_sdk"
    ),
    "test_http_timeout_override.test_post_rejects_zero_or_negative_timeout": (
        "test_http_answers_and_fails_as_in_the_sdk"
    ),
    "test_document_contract.test_store_client_document_is_same_class": (
        "test_a_store_returns_the_sdks_documents"
    ),
    "test_document_contract.test_document_has_helper_methods": (
        "test_a_store_returns_the_sdks_documents"
    ),
    "test_pagination.test_page_with_data": "test_a_query_returns_the_sdks_page",
    "test_pagination.test_page_iteration": "test_a_query_returns_the_sdks_page",
    "test_pagination.test_empty_page": "test_a_query_returns_the_sdks_page",
    "test_pagination.test_model_dump": "test_a_query_returns_the_sdks_page",
    "test_mock_context (MockStore compare and set)": "test_a_stale_etag_writes_nothing",
    "test_extensions_emit.test_emit_routes_through_record_action": (
        "test_events_reach_who_listens_in_every_way_they_are_read"
    ),
    "test_app_engine.test_quantum_tool_schema_extraction": (
        "test_schemas_come_from_models_signatures_and_the_decorators_words"
    ),
    "test_app_engine.test_ambient_context_hidden_from_schema": (
        "test_schemas_come_from_models_signatures_and_the_decorators_words"
    ),
    "test_app_engine.test_auto_ir_projection": (
        "test_an_apps_functions_get_a_context_only_where_they_have_a_place_for_it"
    ),
    "test_app_engine.test_async_quantum_tool": (
        "test_an_apps_functions_get_a_context_only_where_they_have_a_place_for_it"
    ),
    "test_skeleton_decorator.test_skeleton_metadata_exposed": (
        "test_the_catalogue_describes_them_as_it_does_the_kernels_own"
    ),
    "test_skeleton_decorator.test_skeleton_defaults_ttl_300": (
        "test_the_catalogue_describes_them_as_it_does_the_kernels_own"
    ),
    "test_skeleton_decorator.test_skeleton_multiple_sections_coexist": (
        "test_the_catalogue_describes_them_as_it_does_the_kernels_own"
    ),
    "test_panels.test_wrapper_returns_ui_dict": "test_panels_trays_and_widgets_return_trees",
    "test_panels.test_wrapper_passes_params": "test_panels_trays_and_widgets_return_trees",
    "test_panels.test_kwargs_stored": "test_a_panel_keeps_what_its_decorator_was_told",
    "test_events_health.test_custom_headers": "test_a_webhook_may_return",
    "test_events_health.test_degraded": "test_a_health_check_says_what_the_sdks_class_says",
    "test_extension_v2.test_on_upgrade": "test_an_upgrade_runs_its_hook",
    "test_extension_v2.test_multiple_handlers": "test_several_listeners_of_one_event_all_hear_it",
    "test_manifest_v2_webhooks.test_webhook_path_is_slash_normalized": "test_a_webhook_may_return",
    "test_manifest_v2_webhooks.test_webhook_preserves_internal_path_separators": (
        "test_a_webhook_acts_for_the_user_it_finds_out_about"
    ),
    "test_manifest_v2_webhooks.test_manifest_excludes_dunder_internal_tools_from_tools_list": (
        "test_what_can_be_called_is_what_the_sdk_says_can_be"
    ),
    "test_callable_surface_single_source.test_catalog_equals_what_the_manifest_emits": (
        "test_what_can_be_called_is_what_the_sdk_says_can_be"
    ),
    "test_callable_surface_single_source.test_chat_functions_are_not_lost": (
        "test_what_can_be_called_is_what_the_sdk_says_can_be"
    ),
    "test_callable_surface_single_source.test_a_name_declared_twice_appears_once": (
        "test_a_name_declared_both_ways_is_one_function"
    ),
    "test_action_result_typed.test_pydantic_data_serialized": (
        "test_a_result_is_stored_and_rendered"
    ),
    "test_action_result_typed.test_error_includes_fields": (
        "test_a_result_keeps_its_ui_code_and_panels"
    ),
    "test_cache_model.test_cache_model_two_extensions_independent": (
        "test_equal_model_names_of_two_extensions_are_two_models"
    ),
    "test_user.test_wildcard": "test_the_user_answers_for_scopes_and_roles",
    "test_user.test_prefix_wildcard": "test_the_user_answers_for_scopes_and_roles",
    "test_user.test_matching_role": "test_the_user_answers_for_scopes_and_roles",
    "test_identity_contract.test_user_is_frozen": "test_the_user_answers_for_scopes_and_roles",
    "test_oauth_authorize_url.test_unknown_provider_raises": (
        "test_a_sign_in_that_cannot_be_finished_is_not_begun"
    ),
    "test_oauth_authorize_url.test_authorize_url_has_all_components": (
        "test_a_sign_in_begins_at_the_provider_with_the_apps_client_and_scopes"
    ),
    "test_oauth_tokens_shared.test_expired_token_is_refreshed_and_persisted": (
        "test_an_account_is_stored_as_the_sdks_refresh_reads_it"
    ),
    "test_context_deliver_chat_message.test_deliver_chat_message_posts_to_auth_gw": (
        "test_plain_http_reaches_it_however_the_handler_waits"
    ),
    "test_list_users_client.test_yields_single_page": (
        "test_built_clients_equal_given_ones_in_a_schedule"
    ),
    "test_list_users_client.test_paginates_until_exhausted": "test_pages_follow_their_cursor",
    "test_list_users_client.test_raises_if_user_context": (
        "test_a_chat_functions_token_opens_nothing_else"
    ),
    "test_list_users_client.test_raises_store_unavailable_on_503": (
        "test_a_failure_says_nothing_of_the_deployment"
    ),
    "test_query_all_client.test_returns_docs": "test_built_clients_equal_given_ones_in_a_schedule",
    "test_query_all_client.test_raises_if_user_context": (
        "test_a_chat_functions_token_opens_nothing_else"
    ),
    "test_secret_scope_decorator.test_secret_accepts_and_emits_scope_app": (
        "test_secrets_raise_the_sdks_errors"
    ),
    "test_secret_scope_decorator.test_secret_forwards_env_fallback": (
        "test_an_app_wide_secret_may_come_from_the_variable_it_names"
    ),
}


def adopted(ext: Any, name: str = "made") -> Bench:
    """A deployment of one extension made in a test."""
    from types import ModuleType

    module = ModuleType(f"webbee_ext.{name}.main")
    module.__dict__["ext"] = ext
    ours = adopt(name, module)
    assert ours is not None
    return Bench(Registry({name: LoadedExtension(name, ours)}))


# ---- the table itself


def test_every_named_test_is_there_and_the_page_shows_the_table() -> None:
    written = "\n".join(p.read_text("utf-8") for p in Path(__file__).parent.glob("test_*.py"))
    missing = [ours for ours in APPLIES.values() if f"def {ours}(" not in written]
    assert missing == []
    rows = dict(re.findall(r"^\| `([^`]+)` \| `([^`]+)` \|$", PAGE, re.MULTILINE))
    assert rows == APPLIES


# ---- context


def test_a_context_has_every_client(bench: Bench) -> None:
    ctx = bench.context("shelf")
    assert isinstance(ctx, Context)
    for name in (
        "store",
        "ai",
        "skeleton",
        "billing",
        "notify",
        "storage",
        "http",
        "config",
        "extensions",
        "time",
        "secrets",
        "cache",
        "tenant",
    ):
        assert getattr(ctx, name) is not None
    for protocol in ("Store", "AI", "Notify", "Storage", "HTTP", "Config", "Extensions", "Billing"):
        assert isinstance(
            getattr(ctx, protocol.lower()), getattr(imperal_sdk.context, f"{protocol}Protocol")
        )
    assert getattr(ctx, "fact_ledger", None) is None
    assert not hasattr(ctx, "history")


def test_a_context_bears_the_folders_id(bench: Bench) -> None:
    assert bench.context("shelf")._extension_id == "shelf"


def test_a_log_line_is_awaited_at_any_level(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG", "webbee.extension")
    for level in ("debug", "info", "warning", "error", "odd"):
        bench.run(bench.context("shelf").log(f"at {level}", level=level))
    assert [r.getMessage() for r in caplog.records] == [
        f"app=shelf | at {level}" for level in ("debug", "info", "warning", "error", "odd")
    ]


def test_as_user_wants_a_system_context(bench: Bench) -> None:
    with pytest.raises(RuntimeError, match="system"):
        bench.context("shelf").as_user("bob")


@pytest.mark.parametrize("user_id", ["", "__system__", "__webhook__"])
def test_as_user_wants_a_user(bench: Bench, user_id: str) -> None:
    with pytest.raises(ValueError):
        bench.context("shelf", user=SYSTEM, system=True).as_user(user_id)


def test_as_user_changes_the_user_and_nothing_else(bench: Bench) -> None:
    ctx = bench.context("shelf", user=SYSTEM, system=True)
    ctx.agency_id = "agency"
    scoped = ctx.as_user("bob")
    assert (scoped.user.imperal_id, scoped.user.attributes["scoped_from"]) == ("bob", "__system__")
    assert (scoped.user.role, scoped.user.scopes, scoped.user.tenant_id) == (
        "system",
        ["*"],
        "acme",
    )
    assert (scoped._extension_id, scoped.tenant, scoped.agency_id) == (
        "shelf",
        ctx.tenant,
        "agency",
    )
    assert ctx.user.imperal_id == "__system__"


def test_as_user_moves_store_secrets_and_notify(bench: Bench) -> None:
    bench.set_secret("weather", "api_key", "bob's", user=BOB)
    scoped = bench.context("weather", user=SYSTEM, system=True).as_user("bob")
    bench.run(scoped.store.create("notes", {"n": 1}))
    bench.run(scoped.notify("hello"))
    assert bench.run(scoped.secrets.get("api_key")) == "bob's"
    assert bench.documents("weather", "notes", BOB) == [{"n": 1}]
    assert bench.documents("weather", "notes", SYSTEM) == []
    assert [e.data["text"] for e in bench.events("notification", BOB)] == ["hello"]


@pytest.mark.parametrize("tool_type", ["tool", "panel", "chat_fn", "skeleton"])
def test_the_skeleton_is_closed_to_others(bench: Bench, tool_type: str) -> None:
    """Claiming to be a section is not enough: the kernel gives the reader to refreshes only."""
    with pytest.raises(SkeletonAccessForbidden) as refused:
        bench.run(bench.context("shelf", tool_type).skeleton.get("books"))
    assert isinstance(refused.value, PermissionError)


def test_the_skeleton_has_no_writer(bench: Bench) -> None:
    for name in ("update", "set", "save", "delete"):
        assert not hasattr(bench.context("shelf", "skeleton").skeleton, name)
    assert not hasattr(bench.context("shelf"), "skeleton_data")


def test_the_user_answers_for_scopes_and_roles(bench: Bench) -> None:
    user = bench.context(
        "shelf", user=User("ann", role="admin", tenant_id="acme", scopes=("mail.*", "chat"))
    ).user
    assert [user.has_scope(s) for s in ("chat", "mail.read", "mail", "files")] == [
        True,
        True,
        True,
        False,
    ]
    assert (user.has_role("admin"), user.has_role("user")) == (True, False)
    assert bench.context("shelf", user=SYSTEM).user.has_scope("anything")
    with pytest.raises(ValidationError):
        user.role = "owner"


# ---- store


def test_a_store_returns_the_sdks_documents(bench: Bench) -> None:
    store = bench.context("shelf").store
    made = bench.run(store.create("books", {"title": "Emma"}))
    read = bench.run(store.get("books", made.id))
    assert isinstance(read, Document)
    assert (read["title"], read.get("title"), read.get("none", 1)) == ("Emma", "Emma", 1)
    assert {f.name for f in dataclasses.fields(read)} <= set(vars(read))
    assert (
        read.extension_id,
        read.tenant_id,
        read.user_id,
        bool(read.etag),
        bool(read.created_at),
    ) == (
        "shelf",
        "acme",
        "alice",
        True,
        True,
    )
    assert bench.run(store.get("books", "nothing")) is None


def test_a_stale_etag_writes_nothing(bench: Bench) -> None:
    store = bench.context("shelf").store
    made = bench.run(store.create("books", {"n": 1}))
    newer = bench.run(store.update("books", made.id, {"n": 2}, if_match=made.etag))
    with pytest.raises(StoreConflict) as conflict:
        bench.run(store.update("books", made.id, {"n": 3}, if_match=made.etag))
    assert (conflict.value.doc_id, conflict.value.expected_etag, conflict.value.current_etag) == (
        made.id,
        made.etag,
        newer.etag,
    )
    assert bench.run(store.get("books", made.id))["n"] == 2


def test_a_query_returns_the_sdks_page(bench: Bench) -> None:
    store = bench.context("shelf").store
    empty = bench.run(store.query("books"))
    assert (isinstance(empty, Page), len(empty), empty.has_more, empty.cursor) == (
        True,
        0,
        False,
        None,
    )
    for n in range(3):
        bench.run(store.create("books", {"n": n}))
    page = bench.run(store.query("books", limit=2))
    assert ([d["n"] for d in page], page.data[0]["n"], len(page), page.has_more) == (
        [0, 1],
        0,
        2,
        True,
    )
    assert set(page.model_dump()) == {"data", "cursor", "has_more", "total"}


# ---- cache


@pytest.mark.parametrize("key", ["", "a*b", "a b", "ключ", "k" * 129, "a/b"])
def test_a_cache_key_is_checked(bench: Bench, key: str) -> None:
    cache = bench.context("weather").cache
    model = bench.host.registry.loaded["weather"].ext.cache_models["forecast"]
    for attempt in (
        cache.get(key, model),
        cache.set(key, model(city="Oslo", degrees=1)),
        cache.delete(key),
    ):
        with pytest.raises(ValueError, match="I-CACHE-KEY-SAFETY"):
            bench.run(attempt)


@pytest.mark.parametrize("ttl", [5, 300])
def test_a_ttl_may_touch_its_bounds(bench: Bench, ttl: int) -> None:
    cache = bench.context("weather").cache
    model = bench.host.registry.loaded["weather"].ext.cache_models["forecast"]
    bench.run(cache.set("k", model(city="Oslo", degrees=1), ttl_seconds=ttl))
    bench.clock.advance(ttl - 1)
    assert bench.run(cache.get("k", model)) is not None
    bench.clock.advance(1)
    assert bench.run(cache.get("k", model)) is None


def two_models() -> tuple[Bench, type[BaseModel], type[BaseModel]]:
    ext = Extension("made")

    @ext.cache_model("one")
    class One(BaseModel):
        n: int = 1

    @ext.cache_model("two")
    class Two(BaseModel):
        n: int = 2

    return adopted(ext), One, Two


def test_a_cached_value_comes_back_under_its_own_model_only() -> None:
    bench, one, two = two_models()
    cache = bench.context("made").cache
    assert bench.run(cache.get("k", one)) is None
    bench.run(cache.delete("k"))
    bench.run(cache.set("k", one()))
    assert bench.run(cache.get("k", one)) == one()
    assert bench.run(cache.get("k", two)) is None
    bench.run(cache.set("k", two()))
    bench.run(cache.delete("k"))
    assert [bench.run(cache.get("k", model)) for model in (one, two)] == [None, None]


def test_deleting_needs_no_model() -> None:
    bench = adopted(Extension("made"))
    bench.run(bench.context("made").cache.delete("k"))


def test_a_fetcher_of_the_wrong_type_is_refused() -> None:
    bench, one, two = two_models()

    async def fetch() -> Any:
        return two()

    with pytest.raises(TypeError, match="I-CACHE-PYDANTIC-ONLY"):
        bench.run(bench.context("made").cache.get_or_fetch("k", one, fetch))


def test_a_fetched_value_too_large_to_keep_is_served(bench: Bench) -> None:
    cache = bench.context("weather").cache
    model = bench.host.registry.loaded["weather"].ext.cache_models["forecast"]

    async def fetch() -> Any:
        return model(city="x" * 70_000, degrees=1)

    assert len(bench.run(cache.get_or_fetch("k", model, fetch)).city) == 70_000
    assert bench.run(cache.get("k", model)) is None


def test_equal_model_names_of_two_extensions_are_two_models() -> None:
    first, one, _ = two_models()
    second, other, _ = two_models()
    assert one is not other
    with pytest.raises(ValueError, match="not registered"):
        first.run(first.context("made").cache.set("k", other()))
    second.run(second.context("made").cache.set("k", other()))


# ---- the rest


def test_configuration_is_read_by_dots_sections_and_whole(bench: Bench) -> None:
    config = bench.context("shelf").config
    assert (
        config.get("lend.days"),
        config.get("lend"),
        config.get("lend.none", 1),
        config.get("lend.days.none"),
    ) == (
        14,
        {"days": 14},
        1,
        None,
    )
    assert (config.get_section("lend"), config.get_section("none"), config.all()) == (
        {"days": 14},
        {},
        {"lend": {"days": 14}},
    )


def test_a_panel_keeps_what_its_decorator_was_told() -> None:
    ext = Extension("made")

    @ext.panel("p", slot="overlay", title="T", cache_ttl=5, center_overlay=True, extra="x")
    async def p(ctx: Any) -> Any:
        return ui.Text("x")

    panel = adopted(ext).host.registry.loaded["made"].ext.panels["p"]
    assert (panel.slot, panel.title, panel.options["slot"]) == ("center", "T", "overlay")
    assert (
        panel.options["cache_ttl"],
        panel.options["center_overlay"],
        panel.options["extra"],
    ) == (5, True, "x")


def test_an_upgrade_runs_its_hook(bench: Bench) -> None:
    bench.install("shelf")
    bench.call_of("hook", "shelf", "on_upgrade", {"version": "2.1.0"})
    assert bench.documents("shelf", "marks") == [{"to": "2.1.0"}]


def test_several_listeners_of_one_event_all_hear_it() -> None:
    ext = Extension("made")
    heard: list[str] = []

    @ext.on_event("made.done")
    async def fails(ctx: Any, event: Any) -> None:
        raise RuntimeError("deaf")

    @ext.on_event("made.done")
    def hears(ctx: Any, event: Any) -> None:
        heard.append(event.event_type)

    bench = adopted(ext)
    bench.run(bench.context("made").extensions.emit("made.done", {}))
    assert heard == ["made.done"]


def test_what_can_be_called_is_what_the_sdk_says_can_be(bench: Bench) -> None:
    for folder in ("shelf", "pulse", "clerk", "courier", "warden", "weather"):
        module = __import__("sys").modules[f"webbee_ext.{folder}.main"]
        theirs = next(v for v in vars(module).values() if isinstance(v, Extension))
        sections = {n for n in callable_function_names(theirs) if n.startswith("skeleton_")}
        ours = bench.host.registry.loaded[folder].ext
        assert {n for chat in ours.chats for n in chat.functions} == callable_function_names(
            theirs
        ) - sections
        assert set(ours.tools) == sections
    assert (EXTENSIONS / "shelf").is_dir()


def test_a_name_declared_both_ways_is_one_function() -> None:
    ext = Extension("made")
    chat = ChatExtension(ext, tool_name="made_chat")

    @ext.tool("twice")
    async def tool(ctx: Any) -> dict[str, Any]:
        return {"from": "tool"}

    @chat.function("twice", "Declared twice")
    async def function(ctx: Any) -> dict[str, Any]:
        return {"from": "chat"}

    bench = adopted(ext)
    assert [n for c in bench.host.registry.loaded["made"].ext.chats for n in c.functions] == [
        "twice"
    ]
    assert bench.call("made", "twice") == {"from": "chat"}


def test_the_wheels_license_is_kept_at_a_distance() -> None:
    """Our code names none of the SDK's files that carry another licence than the wheel's."""
    package = (
        Path(inspect.getfile(Bench)).resolve().parents[2]
        / "layers/webbee_kernel/webbee_kernel/compat"
    )
    closed = re.compile(
        r"imperal_sdk[\w.]*\.(core|transport|_shared_http|_http_retry|typed_context|liquid|autonomous_mock)\b|\b_find\([^)]*\"(core|transport|typed_context)\""
    )
    assert [p.name for p in package.rglob("*.py") if closed.search(p.read_text("utf-8"))] == []
