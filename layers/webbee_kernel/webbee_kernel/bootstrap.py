"""The composition root: the one place that decides what is plugged into what.

Production passes settings only; tests pass doubles. Nothing is patched anywhere.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from .clock import Clock, SystemClock
from .config import ALL_TABLES, INLINE, TABLES, FunctionName, Settings
from .llm.options import BrokerModel
from .llm.options import make_model as make_model
from .llm.protocol import Model
from .refresh.refresh_queue import RefreshQueue, SqsRefreshQueue
from .stores import EventLog, Stores
from .types import UserKey

if TYPE_CHECKING:  # each function imports only what it runs: a cold start pays for every module
    from .aws.clients import ClientFactory
    from .aws.invoke import LambdaInstalls
    from .catalogue import Dispatch
    from .extensions.host import ExtensionHost
    from .extensions.registry import Registry
    from .refresh.due import Installer, Refresher, Scheduler
    from .stores.audit_trail import OnceDispatch
    from .stores.dynamodb.personal_data import PersonalData
    from .turn.kernel import Kernel

    Installs: TypeAlias = Installer | LambdaInstalls


class App(NamedTuple):
    """The parts a function works with."""

    settings: Settings
    stores: Stores
    clock: Clock
    model: Model
    events: EventLog


def bootstrap(
    settings: Settings | None = None,
    *,
    role: FunctionName | None = None,
    stores: Stores | None = None,
    llm: Model | None = None,
    clock: Clock | None = None,
) -> App:
    """Settings from the environment unless given, then the ports they name."""
    settings = settings or Settings.from_env(os.environ, role)
    clock = clock or SystemClock()
    stores = stores or _stores(settings, role)
    return App(
        settings,
        stores,
        clock,
        llm or make_model(settings),
        EventLog(stores.events, clock, hours=settings.event_hours),
    )


def make_kernel(
    app: App,
    *,
    dispatch: Dispatch | None = None,
    queue: RefreshQueue | None = None,
    registry: Registry | None = None,
) -> Kernel:
    """The kernel of `chat_turn`; without `dispatch` the settings decide."""
    from .turn.kernel import Kernel

    settings = app.settings
    # read once, with the process: rules do not change between two turns of it
    if settings.policy_parameter and not settings.policy:
        from .aws.parameters import read_policy

        settings = settings.model_copy(update={"policy": read_policy(settings.policy_parameter)})
    return Kernel(
        settings,
        app.stores,
        app.model,
        make_once_dispatch(app, dispatch or make_dispatch(app, registry)),
        queue or make_queue(app),
        app.clock,
    )


def make_host(app: App, registry: Registry | None = None) -> ExtensionHost:
    """The extension host of `tool_dispatch`: this imports extension code."""
    from .extensions.host import ExtensionHost
    from .extensions.registry import shared_registry, watch

    settings, folder = app.settings, app.settings.extensions_dir
    # a registry that was handed in belongs to its test, and stays as it is
    is_watched = registry is None and settings.develop
    if registry is None:
        registry = shared_registry(folder)
    approve: Callable[[], None] | None = None
    if settings.mcp_servers:
        from .mcp.server_apps import add_servers

        approve = partial(add_servers, registry, settings)
        # now, and again whenever the file of approvals is saved
        approve()
    host = ExtensionHost(registry, app.stores, settings, app.clock, app.model)
    if is_watched:
        watch(folder, host.contexts.faults.on_saved, approve)
    return host


def make_dispatch(app: App, registry: Registry | None = None) -> Dispatch:
    """The seam to extension code: another function, or this process."""
    if app.settings.dispatch == INLINE:
        from .extensions.host import InlineDispatch

        return InlineDispatch(make_host(app, registry))
    from .aws.invoke import LambdaDispatch
    from .aws.parameters import AppConfiguration, WebhookKeys
    from .aws.tenant_credentials import TenantCredentials
    from .stores.dynamodb.user_items import CachedCatalogue

    settings = app.settings
    # by version: without one a new deployment would be served the catalogue of the last
    catalogue_store = CachedCatalogue(app.stores.deployed, settings.dispatch_version, app.clock)
    credentials = TenantCredentials(
        settings.data_role,
        secrets_prefix=settings.secrets_prefix,
        per_user=settings.isolation == "user",
    )
    return LambdaDispatch(
        settings.dispatch,
        fresh_s=0.3 if settings.develop else None,
        store=catalogue_store if settings.dispatch_version else None,
        webhook_mark=WebhookKeys(settings).mark,
        credentials=credentials if settings.data_role else None,
        per_tenant=settings.tenancy == "environment",
        configuration=AppConfiguration(settings).of,
    )


def make_once_dispatch(app: App, dispatch: Dispatch) -> OnceDispatch:
    """A dispatch that records its calls and runs effects once."""
    from .stores.audit_trail import OnceDispatch, OutcomeCache

    stores, clock = app.stores, app.clock
    return OnceDispatch(
        dispatch,
        stores.audit,
        OutcomeCache(stores.cache, clock),
        app.events,
        clock,
        days=app.settings.audit_days,
        follow=make_queue(app).follow,
    )


def make_refresher(app: App, dispatch: Dispatch) -> Refresher:
    """The refresh loop of `skeleton_refresh`."""
    from .refresh.due import Refresher

    return Refresher(dispatch, app.stores.skeleton, app.events, app.clock, app.settings)


def make_scheduler(app: App, dispatch: Dispatch) -> Scheduler:
    """The extensions' own schedules."""
    from .refresh.due import Scheduler

    return Scheduler(dispatch, app.stores.skeleton, app.clock, app.settings)


def make_installer(app: App, dispatch: Dispatch, queue: RefreshQueue | None = None) -> Installer:
    """Installs and uninstalls apps, in the function that may write the skeleton."""
    from .refresh.due import Installer

    return Installer(dispatch, app.stores, app.clock, queue or make_queue(app))


def make_installs(app: App, dispatch: Dispatch) -> Installs:
    """The installer for `chat_turn`: skeleton_refresh by invocation, or this process."""
    if app.settings.refresh_function == INLINE:
        return make_installer(app, dispatch)
    from .aws.invoke import LambdaInstalls

    return LambdaInstalls(app.settings.refresh_function)


def make_extension_model(settings: Settings) -> Model:
    """The model of `ctx.ai`: called through the `model_broker` function, or in this process where
    none is configured, as in tests."""
    if not settings.model_broker:
        return make_model(settings)
    from .aws.invoke import LambdaFunction

    return BrokerModel(LambdaFunction(settings.model_broker))


def _stores(settings: Settings, role: FunctionName | None) -> Stores:
    """Stores for the tables that this function may use; for all where it runs everything."""
    from .stores.dynamodb import Tables, dynamodb_stores

    is_one_of_three = INLINE not in (settings.dispatch, settings.refresh_function)
    nouns = TABLES[role] if role and is_one_of_three else ALL_TABLES
    names = {noun: settings.table(noun) for noun in nouns}
    return dynamodb_stores(
        Tables(**names),
        secrets_prefix=settings.secrets_prefix,
        secrets_key=settings.secrets_key,
        shards=settings.due_shards,
    )


def make_personal_data(app: App, user: UserKey, apps: Iterable[str]) -> PersonalData:
    """One user's stored data, with credentials limited to that user where a role is set."""
    from .aws.parameters import SsmSecretStore
    from .extensions.redaction import redact
    from .stores.dynamodb import Database
    from .stores.dynamodb.personal_data import PersonalData

    settings = app.settings
    clients = _clients_for(settings, user)
    tables = {noun: settings.table(noun) for noun in ALL_TABLES}
    secrets = SsmSecretStore(settings.secrets_prefix, clients)
    return PersonalData(Database(clients), tables, secrets, user, apps, redact)


def _clients_for(settings: Settings, user: UserKey) -> ClientFactory:
    from .aws.clients import aws_client

    if not settings.person_role:
        return aws_client
    from .aws.tenant_credentials import clients_for, person_policy
    from .stores.item_keys import pseudonyms_of, secrets_of, user_key

    secrets = f"{settings.secrets_prefix}/{secrets_of(user)}"
    policy = person_policy(user_key(user), pseudonyms_of(user.tenant_id), secrets)
    return clients_for(settings.person_role, policy)


def make_queue(app: App) -> RefreshQueue:
    """The queue for refresh requests; without a URL they are dropped."""
    url = app.settings.refresh_queue_url
    return SqsRefreshQueue(url) if url else RefreshQueue()
