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
from .llm.protocol import Model, ModelRole
from .refresh.refresh_queue import RefreshQueue, SqsRefreshQueue
from .stores.event_log import EventLog
from .stores.protocols import Stores
from .types import UserKey

if TYPE_CHECKING:  # each function imports only what it runs: a cold start pays for every module
    from .aws.clients import ClientFactory
    from .aws.invoke import LambdaInstalls
    from .catalogue import Dispatch
    from .extensions.host import ExtensionHost
    from .extensions.registry import Registry
    from .refresh.due import Installer, Refresher, Scheduler
    from .stores.audit_trail import OnceDispatch
    from .stores.dynamodb.personal_data import Belongings
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
    """The kernel of `chat_turn`. Without a dispatch of its own it takes the one the settings
    name."""
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
        recorded(app, dispatch or make_dispatch(app, registry)),
        queue or make_queue(app),
        app.clock,
    )


def make_host(app: App, registry: Registry | None = None) -> ExtensionHost:
    """The extension host of `tool_dispatch`: this imports extension code."""
    from .extensions.host import ExtensionHost
    from .extensions.registry import shared, watch

    settings, folder = app.settings, app.settings.extensions_dir
    # a registry that was handed in belongs to its test, and stays as it is
    is_followed = registry is None and settings.develop
    if registry is None:
        registry = shared(folder)
    beside: dict[str, Callable[[], None]] = {}
    if settings.mcp_servers:
        from .extensions.mcp_apps import add_servers
        from .mcp.client import approvals

        beside[approvals.FILE] = partial(add_servers, registry, settings)
        # now, and again whenever the file is saved
        beside[approvals.FILE]()
    host = ExtensionHost(registry, app.stores, settings, app.clock, app.model)
    if is_followed:
        watch(registry, folder, host.contexts.faults.saved, beside)
    return host


def make_dispatch(app: App, registry: Registry | None = None) -> Dispatch:
    """The seam to extension code: another function, or this process."""
    if app.settings.dispatch == INLINE:
        from .extensions.host import InlineDispatch

        return InlineDispatch(make_host(app, registry))
    from .aws.invoke import LambdaDispatch
    from .aws.parameters import AppConfiguration, WebhookKeys
    from .aws.tenant_credentials import TenantCredentials
    from .stores.deployment import CachedCatalogue

    settings = app.settings
    # by version: without one a new deployment would be served the catalogue of the last
    kept = CachedCatalogue(app.stores.deployed, settings.dispatch_version, app.clock)
    credentials = TenantCredentials(
        settings.data_role,
        secrets_prefix=settings.secrets_prefix,
        per_user=settings.isolation == "user",
    )
    return LambdaDispatch(
        settings.dispatch,
        fresh_s=0.3 if settings.develop else None,
        kept=kept if settings.dispatch_version else None,
        webhook_mark=WebhookKeys(settings).mark,
        credentials=credentials if settings.data_role else None,
        per_tenant=settings.tenancy == "environment",
        configuration=AppConfiguration(settings).of,
    )


def recorded(app: App, dispatch: Dispatch) -> OnceDispatch:
    """A dispatch that records its calls and runs effects once."""
    from .stores.audit_trail import KeptOutcomes, OnceDispatch

    stores, clock = app.stores, app.clock
    return OnceDispatch(
        dispatch,
        stores.audit,
        KeptOutcomes(stores.cache, clock),
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


def make_installer(app: App, dispatch: Dispatch, sender: RefreshQueue | None = None) -> Installer:
    """What gives users apps and takes them away, where the skeleton may be written."""
    from .refresh.due import Installer

    queue = make_queue(app)
    return Installer(dispatch, app.stores, app.clock, queue, sender or queue)


def make_installs(app: App, dispatch: Dispatch) -> Installs:
    """The same as `chat_turn` has it: skeleton_refresh does it, or this process."""
    if app.settings.clock == INLINE:
        return make_installer(app, dispatch)
    from .aws.invoke import LambdaInstalls

    return LambdaInstalls(app.settings.clock)


def make_cell_model(settings: Settings) -> Model:
    """The model of `ctx.ai` where extensions run: another function asks it; this process's own
    where none is named, as in tests."""
    if not settings.model_broker:
        return make_model(settings)
    from .aws.invoke import Invoked
    from .llm.options import BrokerModel

    return BrokerModel(Invoked(settings.model_broker))


def make_model(settings: Settings) -> Model:
    """The models that `WEBBEE_MODEL` and the roles' own variables name; roles that name the same
    one with the same options share it."""
    from .llm.options import PLAIN, RoleModels, named, options_of

    roles: tuple[ModelRole, ...] = ("classifier", "narrator", "ai")
    if all(settings.model_of(role) == "offline" for role in roles):
        return named("offline", settings, PLAIN)
    wanted = {role: (settings.model_of(role), options_of(settings, role)) for role in roles}
    models = {one: named(one[0], settings, one[1]) for one in set(wanted.values())}
    return RoleModels({role: models[one] for role, one in wanted.items()})


def _stores(settings: Settings, role: FunctionName | None) -> Stores:
    """Those of the tables that the function may touch; of all where it does the others' work."""
    from .stores.dynamodb import Tables, dynamodb_stores

    is_one_of_three = INLINE not in (settings.dispatch, settings.clock)
    nouns = TABLES[role] if role and is_one_of_three else ALL_TABLES
    names = {noun: settings.table(noun) for noun in nouns}
    return dynamodb_stores(
        Tables(**names),
        secrets_prefix=settings.secrets_prefix,
        secrets_key=settings.secrets_key,
        shards=settings.due_shards,
    )


def make_belongings(app: App, user: UserKey, apps: Iterable[str]) -> Belongings:
    """What is kept of one person, with credentials for that person alone where there is a role."""
    from .aws.parameters import SsmSecretStore
    from .extensions.redaction import shown
    from .stores.dynamodb import Database
    from .stores.dynamodb.personal_data import Belongings

    settings = app.settings
    clients = _clients_for(settings, user)
    tables = {noun: settings.table(noun) for noun in ALL_TABLES}
    secrets = SsmSecretStore(settings.secrets_prefix, clients)
    return Belongings(Database(clients), tables, secrets, user, apps, shown)


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
    """Where requests for refreshes go; nowhere without a queue."""
    url = app.settings.refresh_queue_url
    return SqsRefreshQueue(url) if url else RefreshQueue()
