"""Settings: the only place that reads the environment. Built once, frozen, from a mapping.

Annotations are no texts here: pydantic would compile each of them in every cold start.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, Json, SecretStr, ValidationError

from .errors import SettingsError
from .types import JSONObject

FunctionName = Literal["chat_turn", "tool_dispatch", "skeleton_refresh", "model_broker"]

INLINE = "inline"
"""Stands for another function's name: run it in this process."""

TABLES: Mapping[FunctionName, Sequence[str]] = {
    "chat_turn": "sessions skeleton cache audit events transcripts limits connections".split(),
    "tool_dispatch": "cache store events".split(),
    "skeleton_refresh": "skeleton cache store audit events".split(),
    "model_broker": (),
}
"""Which tables each function may touch; the template grants exactly these."""

MODEL = r"^(offline|bedrock:.+|openai:https?://[^#]+#.+)$"

SSM_NAME = r"^(/[A-Za-z0-9_.-]+)+$"

ROLE = r"^arn:[a-z-]+:iam::\d{12}:role/.+$"

MASK_KINDS = r"^(IBAN|CARD|PASSPORT|IDENTITY)(\s*,\s*(IBAN|CARD|PASSPORT|IDENTITY))*$"

FALLBACKS = "IMPERAL_APPSECRET_"
"""Prefix of variables that app-wide secrets fall back to."""

KEYS = ("WEBBEE_MODEL_KEY", "WEBBEE_WEBHOOK_KEY")
"""Variables that extension code must not see."""

POLICY_FILE = "file:"
MAX_POLICY = 24_000
"""Characters of the operator's rules: about 6,000 tokens, what the catalogue may take as well."""

ALL_TABLES = tuple(dict.fromkeys(noun for nouns in TABLES.values() for noun in nouns))

GROUPS: Mapping[str, Sequence[str]] = {
    "WEBBEE_MODEL_OPTIONS": (
        "ModelClassifier ModelNarrator ModelAi ModelEffort ModelCache ModelOutputTokens"
        " ModelWindow ModelTemperature ModelToolChoice ModelStop ModelSettings ModelPrices"
    ).split(),
    "WEBBEE_LIMITS": (
        "UserRequestsPerMinute UserTokensPerDay TenantTokensPerDay CallSeconds TurnSeconds"
        " AnswerSeconds MaxRounds TurnTokens SessionDays TranscriptDays AuditDays EventHours"
        " AbsentAfterDays DueShards"
    ).split(),
    "WEBBEE_OPTIONS": (
        "Install Tenants Confirm OpenHosts Grounding MaskKinds PublicUrl SignInClient SignInOrigin"
    ).split(),
    "WEBBEE_EXTENSION_SERVICES": ("OauthProviders", "McpServers"),
}
"""Variables that hold several settings, because a template may have few parameters and a function
4 KB of variables. A name inside is the setting's own variable in another spelling: `TurnTokens` is
`WEBBEE_TURN_TOKENS`, which wins where both are given."""

LISTS = frozenset({"Install", "Tenants", "OpenHosts", "MaskKinds"})
"""Settings whose commas are written `+` where a comma parts the names."""


StopWord = Annotated[str, Field(min_length=1, max_length=100, pattern=r"\S")]
StopWords = Annotated[tuple[StopWord, ...], Field(max_length=4)]
Window = Annotated[int, Field(ge=2_048, le=20_000_000)]
CacheTime = Annotated[str, Field(pattern=r"^(5m|1h|24h)$")]
OutputTokens = Annotated[int, Field(ge=64, le=200_000)]
Temperature = Annotated[float, Field(ge=0, le=2)]
Effort = Literal["", "none", "minimal", "low", "medium", "high", "xhigh", "max"]

OF_ROLE_OR_MODEL = r"^(classifier|narrator|ai|bedrock:.+|openai:.+)$"


class ModelOptions(BaseModel):
    """How a model or a role is asked; of what is not set the defaults hold.

    `window` is how many tokens prompt and answer may have together, 0 if unknown; `effort` the
    service's reasoning effort; `cache` the lifetime of a cached prompt (`1h` at Bedrock, `24h` at
    OpenAI); `refuses` the parts of a request that it does not take, by the adapters' own names;
    `thinks_aloud` whether its answers may begin with thoughts that only their end shows to be such,
    None if unknown.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    window: Window = 0
    output_tokens: OutputTokens = 4096
    effort: Effort = ""
    cache: CacheTime = ""
    tool_choice: Annotated[str, Field(pattern="^(auto)?$")] = ""
    temperature: Temperature = 0.0
    stop: StopWords = ()
    refuses: tuple[Annotated[str, Field(pattern="^[a-z_]{1,40}$")], ...] = ()
    thinks_aloud: bool | None = None

    def over(self, other: Self) -> Self:
        """These options, with unset ones taken from `other`."""
        return other.model_copy(update=self.model_dump(exclude_unset=True))

    @property
    def answer_tokens(self) -> int:
        """Maximum output tokens: at most a quarter of the window."""
        return min(self.output_tokens, self.window // 4) if self.window else self.output_tokens

    @property
    def prompt_tokens(self) -> int:
        """Maximum prompt tokens, tools included; 0 if unknown."""
        return self.window - self.answer_tokens if self.window else 0


OptionsByModel = dict[Annotated[str, Field(pattern=OF_ROLE_OR_MODEL)], ModelOptions]

HttpUrl = Annotated[str, Field(pattern=r"^https?://[^\s]+$", max_length=500)]


PROVIDER_NAME: Final = r"[a-z][a-z0-9_-]{0,31}"
"""A provider's name: it stands in the callback's path and in the names of its two secrets."""


class Provider(BaseModel):
    """Endpoints of an OAuth provider. `userinfo_url` names the account when there is no id token;
    `extra` goes into the authorize URL.

    `resource` names what the tokens are for, to a provider that issues them for several (RFC 8707);
    `client_id` is that of a client without a secret, where no app-wide secret has another.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    authorize_url: HttpUrl
    token_url: HttpUrl
    userinfo_url: HttpUrl | None = None
    extra: dict[Annotated[str, Field(pattern=r"^[A-Za-z_]{1,64}$")], str] = {}
    resource: HttpUrl | None = None
    client_id: str = Field("", max_length=500)

    @property
    def resource_parameter(self) -> dict[str, str]:
        """The `resource` parameter of each token request, or nothing."""
        return {"resource": self.resource} if self.resource else {}


Providers = dict[Annotated[str, Field(pattern=f"^{PROVIDER_NAME}$")], Provider]

Dollars = Annotated[float, Field(ge=0, le=100_000)]


class Price(BaseModel):
    """US dollars for a million tokens: read, written, and read from the service's cache (as much as
    those read anew, where it is not given)."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    input: Dollars
    output: Dollars
    cached: Dollars | None = None

    def of(self, read: int, cached: int, written: int) -> float:
        """US dollars for a request: `cached` of the `read` tokens came from the cache."""
        cache_price = self.input if self.cached is None else self.cached
        millionths = (read - cached) * self.input + cached * cache_price + written * self.output
        return millionths / 1_000_000


class Settings(BaseModel):
    """Everything a deployment can turn. `docs/configuration.md` describes each variable."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    table_sessions: str = Field("", alias="WEBBEE_TABLE_SESSIONS")
    table_skeleton: str = Field("", alias="WEBBEE_TABLE_SKELETON")
    table_cache: str = Field("", alias="WEBBEE_TABLE_CACHE")
    table_store: str = Field("", alias="WEBBEE_TABLE_STORE")
    table_audit: str = Field("", alias="WEBBEE_TABLE_AUDIT")
    table_events: str = Field("", alias="WEBBEE_TABLE_EVENTS")
    table_transcripts: str = Field("", alias="WEBBEE_TABLE_TRANSCRIPTS")
    table_limits: str = Field("", alias="WEBBEE_TABLE_LIMITS")
    table_connections: str = Field("", alias="WEBBEE_TABLE_CONNECTIONS")
    extensions_dir: str = Field("", alias="WEBBEE_EXTENSIONS_DIR")
    model: str = Field("offline", alias="WEBBEE_MODEL", pattern=MODEL)
    # defaults are not validated: an empty text, or a 0, may break the field's own rule
    model_classifier: str = Field("", alias="WEBBEE_MODEL_CLASSIFIER", pattern=MODEL)
    model_narrator: str = Field("", alias="WEBBEE_MODEL_NARRATOR", pattern=MODEL)
    model_ai: str = Field("", alias="WEBBEE_MODEL_AI", pattern=MODEL)
    model_broker: str = Field("", alias="WEBBEE_MODEL_BROKER")
    model_key: SecretStr = Field(SecretStr(""), alias="WEBBEE_MODEL_KEY")
    model_key_secret: str = Field("", alias="WEBBEE_MODEL_KEY_SECRET", pattern=SSM_NAME)
    model_effort: Effort = Field("", alias="WEBBEE_MODEL_EFFORT")
    model_cache: CacheTime = Field("", alias="WEBBEE_MODEL_CACHE")
    model_output_tokens: OutputTokens = Field(4096, alias="WEBBEE_MODEL_OUTPUT_TOKENS")
    model_window: Window = Field(0, alias="WEBBEE_MODEL_WINDOW")
    model_temperature: Temperature = Field(0.0, alias="WEBBEE_MODEL_TEMPERATURE")
    model_stop: Json[StopWords] = Field((), alias="WEBBEE_MODEL_STOP")
    model_tool_choice: str = Field("", alias="WEBBEE_MODEL_TOOL_CHOICE", pattern=r"^auto$")
    model_settings: Json[OptionsByModel] = Field({}, alias="WEBBEE_MODEL_SETTINGS")
    model_prices: Json[dict[str, Price]] = Field({}, alias="WEBBEE_MODEL_PRICES")
    dispatch: str = Field(INLINE, alias="WEBBEE_DISPATCH", min_length=1)
    dispatch_version: str = Field("", alias="WEBBEE_DISPATCH_VERSION", pattern=r"^[^#]+$")
    data_role: str = Field("", alias="WEBBEE_DATA_ROLE", pattern=ROLE)
    isolation: Literal["tenant", "user"] = Field("tenant", alias="WEBBEE_ISOLATION")
    tenancy: Literal["environment", "process", "shared"] = Field("process", alias="WEBBEE_TENANCY")
    refresh_function: str = Field(INLINE, alias="WEBBEE_CLOCK", min_length=1)
    expose_pii: bool = Field(False, alias="IMPERAL_FACT_LEDGER_EXPOSE_PII")
    mask_kinds: str = Field("", alias="WEBBEE_MASK_KINDS", pattern=MASK_KINDS)
    name_detector: str = Field("", alias="WEBBEE_NAME_DETECTOR", pattern=r"^[\w.]+:\w+$")
    person_role: str = Field("", alias="WEBBEE_PERSON_ROLE", pattern=r"^arn:[^\s]+$")
    late_queue_url: str = Field("", alias="WEBBEE_LATE_QUEUE_URL")
    dead_letter_url: str = Field("", alias="WEBBEE_DEAD_LETTER_URL")
    refresh_queue_url: str = Field("", alias="WEBBEE_REFRESH_QUEUE_URL")
    secrets_prefix: str = Field("/webbee", alias="WEBBEE_SECRETS_PREFIX", pattern=SSM_NAME)
    secrets_key: str = Field("", alias="WEBBEE_SECRETS_KEY", pattern=r"^arn:[^\s]+$")
    due_shards: int = Field(8, alias="WEBBEE_DUE_SHARDS", ge=1, le=256)
    absent_after_days: int = Field(14, alias="WEBBEE_ABSENT_AFTER_DAYS", ge=0, le=365)
    session_days: int = Field(30, alias="WEBBEE_SESSION_DAYS", ge=1, le=365)
    transcript_days: int = Field(90, alias="WEBBEE_TRANSCRIPT_DAYS", ge=0, le=3650)
    user_requests_per_minute: int = Field(60, alias="WEBBEE_USER_REQUESTS_PER_MINUTE", ge=0)
    user_tokens_per_day: int = Field(2_000_000, alias="WEBBEE_USER_TOKENS_PER_DAY", ge=0)
    tenant_tokens_per_day: int = Field(50_000_000, alias="WEBBEE_TENANT_TOKENS_PER_DAY", ge=0)
    audit_days: int = Field(365, alias="WEBBEE_AUDIT_DAYS", ge=1, le=3650)
    event_hours: int = Field(24, alias="WEBBEE_EVENT_HOURS", ge=1, le=720)
    turn_seconds: float = Field(300.0, alias="WEBBEE_TURN_SECONDS", gt=0, le=300)
    answer_seconds: float = Field(25.0, alias="WEBBEE_ANSWER_SECONDS", gt=0, le=28)
    call_seconds: float = Field(20.0, alias="WEBBEE_CALL_SECONDS", gt=0, le=180)
    max_rounds: int = Field(12, alias="WEBBEE_MAX_ROUNDS", ge=1, le=50)
    turn_tokens: int = Field(150_000, alias="WEBBEE_TURN_TOKENS", ge=1_000)
    install: str = Field("*", alias="WEBBEE_INSTALL")
    confirm: Literal["bound", "all", "destructive"] = Field("bound", alias="WEBBEE_CONFIRM")
    hosts: str = Field("", alias="WEBBEE_OPEN_HOSTS", pattern=r"^[\w.-]+([,\s]+[\w.-]+)*$")
    grounding: Literal["strict", "data", "off"] = Field("data", alias="WEBBEE_GROUNDING")
    public_url: str = Field("", alias="WEBBEE_PUBLIC_URL")
    issuer: str = Field("", alias="WEBBEE_ISSUER", pattern=r"^https?://[^?#\s]+$")
    sign_in_client: str = Field("", alias="WEBBEE_SIGN_IN_CLIENT", pattern=r"^[^\s#]+$")
    sign_in_origin: str = Field("", alias="WEBBEE_SIGN_IN_ORIGIN", pattern=r"^https?://[^/?#\s]+$")
    webhook_key: SecretStr = Field(SecretStr(""), alias="WEBBEE_WEBHOOK_KEY")
    webhook_key_secret: str = Field("", alias="WEBBEE_WEBHOOK_KEY_SECRET", pattern=r"^arn:[^\s]+$")
    live_url: str = Field("", alias="WEBBEE_LIVE_URL", pattern=r"^wss?://[^?#\s]+$")
    connections_url: str = Field("", alias="WEBBEE_CONNECTIONS_URL", pattern=r"^https?://[^?#\s]+$")
    tenants: str = Field("default", alias="WEBBEE_TENANTS", pattern=r"^[^#\s]+([,\s]+[^#\s]+)*$")
    app_config: Json[JSONObject] = Field({}, alias="WEBBEE_CONFIG")
    app_config_parameter: str = Field("", alias="WEBBEE_CONFIG_PARAMETER", pattern=SSM_NAME)
    app_secrets: dict[str, SecretStr] = Field({}, alias=f"{FALLBACKS}*")
    metrics_namespace: str = Field("", alias="POWERTOOLS_METRICS_NAMESPACE")
    oauth_providers: Json[Providers] = Field({}, alias="WEBBEE_OAUTH_PROVIDERS")
    mcp_servers: Json[tuple[JSONObject, ...]] = Field((), alias="WEBBEE_MCP_SERVERS")
    policy: str = Field("", alias="WEBBEE_POLICY")
    policy_parameter: str = Field("", alias="WEBBEE_POLICY_PARAMETER", pattern=SSM_NAME)
    private_http: bool = Field(False, alias="WEBBEE_HTTP_ALLOW_PRIVATE")
    develop: bool = Field(False, alias="WEBBEE_DEVELOP")

    @classmethod
    def from_env(cls, env: Mapping[str, str], role: FunctionName | None = None) -> Self:
        """Read the variables above from a mapping, alone or in their groups; others are ignored,
        empty means unset.

        With a role, the tables and folders that function needs must be named. Raises
        `SettingsError` with one line that names the variable and what it wants.
        """
        aliases = {f.alias for f in cls.model_fields.values()}
        nonempty = {k: v for k, v in env.items() if v != ""}
        values, origin = _group_values(nonempty)
        direct = {k: nonempty[k] for k in nonempty.keys() & aliases}
        values |= direct
        # under a name that no variable has, as there is no `*` in any
        values[f"{FALLBACKS}*"] = {k: v for k, v in nonempty.items() if k.startswith(FALLBACKS)}
        try:
            settings = cls.model_validate(values)
        except ValidationError as error:
            # from None: pydantic's error quotes what was given, and that may be a key
            raise _validation_error(error, {k: origin[k] for k in origin.keys() - direct}) from None
        if role:
            settings._require(role)
        return settings

    def installed_by_default(self, app_id: str) -> bool:
        """Whether an undecided user has the app: `WEBBEE_INSTALL` is `*`, empty or a comma list."""
        return self.install == "*" or app_id in re.split(r"[,\s]+", self.install)

    def policy_text(self) -> str:
        """The operator's rules for both models: `WEBBEE_POLICY` itself, or the file it names as
        `file:<path>` (UTF-8).

        SettingsError where the file cannot be read and over 24,000 characters: rules are never cut.
        """
        text = self.policy
        if text.startswith(POLICY_FILE):
            try:
                text = Path(text.removeprefix(POLICY_FILE)).read_text("utf-8")
            except (OSError, UnicodeDecodeError) as error:
                what = f"text, or file: and a readable path ({type(error).__name__})"
                raise _missing_error("WEBBEE_POLICY", what) from None
        if len(text) > MAX_POLICY:
            problem = f"{len(text)} characters, {MAX_POLICY} at most"
            raise _settings_error("WEBBEE_POLICY", problem, MAX_POLICY)
        return text

    @property
    def ring_days(self) -> int:
        """Days for which the last five turns stay in the session's ring: the longer of session and
        transcript retention."""
        return max(self.session_days, self.transcript_days)

    @property
    def tenant_ids(self) -> tuple[str, ...]:
        """Tenants whose schedules always run; URLs without a tenant mean the first."""
        return tuple(t for t in re.split(r"[,\s]+", self.tenants) if t)

    @property
    def open_hosts(self) -> tuple[str, ...]:
        """Hosts that reads may open without confirmation; exact names."""
        return tuple(h.casefold() for h in re.split(r"[,\s]+", self.hosts) if h)

    def model_of(self, role: str) -> str:
        """What the role's own variable names (`classifier`, `narrator`, `ai`), otherwise
        `WEBBEE_MODEL`."""
        return str(getattr(self, f"model_{role}")) or self.model

    def table(self, noun: str) -> str:
        """The table's name, empty when this function has none."""
        return str(getattr(self, f"table_{noun}"))

    def _require(self, role: FunctionName) -> None:
        # it calls no extensions, so its dispatch is `inline`: that would want all tables
        if role == "model_broker":
            return
        is_tool_dispatch = role == "tool_dispatch"
        is_inline = not is_tool_dispatch and self.dispatch == INLINE
        self._require_tables(ALL_TABLES if is_inline else TABLES[role])
        if is_tool_dispatch and self.tenancy == "shared" and len(self.tenant_ids) > 1:
            raise _missing_error("WEBBEE_TENANCY", "environment or process where there are tenants")
        if (is_inline or is_tool_dispatch) and not self.extensions_dir:
            raise _missing_error("WEBBEE_EXTENSIONS_DIR", "a folder of extension folders")

    def _require_tables(self, nouns: Iterable[str]) -> None:
        for noun in nouns:
            if not self.table(noun):
                raise _missing_error(f"WEBBEE_TABLE_{noun.upper()}", "the name of a DynamoDB table")


def _group_values(nonempty: Mapping[str, str]) -> tuple[JSONObject, dict[str, str]]:
    """Settings given inside group variables by their own variable's name, and where each stood."""
    values: JSONObject = {}
    origin: dict[str, str] = {}
    for group in GROUPS.keys() & nonempty.keys():
        for name, text in _members(group, nonempty[group]):
            origin[variable_of(name)] = f"{group}: {name}"
            values[variable_of(name)] = text
    return values, origin


def layers_of(config: JSONObject, tenant_id: str, app_id: str) -> tuple[JSONObject, ...]:
    """An app's configuration in `{"mail": {…}, "tenants": {"acme": {"mail": {…}}}}`: the
    deployment's, then the tenant's."""
    tenant = (config.get("tenants") or {}).get(tenant_id) or {}
    found = (config.get(app_id), tenant.get(app_id))
    return tuple(layer for layer in found if isinstance(layer, dict))


_PATTERN_TEXTS = {
    MODEL: "must be offline, bedrock:<id> or openai:<base-url>#<model>",
    OF_ROLE_OR_MODEL: "must be classifier, narrator, ai or a model's name",
}
"""Error texts by pattern."""


def variable_of(name: str) -> str:
    """The variable's name for a setting inside a group: `TurnTokens` → `WEBBEE_TURN_TOKENS`."""
    return "WEBBEE_" + re.sub(r"(?<!^)(?=[A-Z])", "_", name).upper()


def _members(group: str, text: str) -> Iterator[tuple[str, str]]:
    """Names and texts of a group: `Name=value,Name=value`, or a JSON object of the same."""
    names = ", ".join(GROUPS[group])
    try:
        is_object = text.lstrip().startswith("{")
        values = _of_object(text) if is_object else _of_pairs(text)
    except ValueError:
        problem = f"must be Name=value,Name=value or a JSON object, of {names}"
        raise _settings_error(group, problem) from None
    for name, value in values.items():
        if name not in GROUPS[group]:
            raise _settings_error(group, f"there is no {name[:64]}; it holds {names}")
        # empty means unset in a group, too
        if value != "":
            yield name, value


def _of_object(text: str) -> dict[str, str]:
    """JSON values as their own variables would hold them."""
    values = json.loads(text).items()
    return {k: v if isinstance(v, str) else json.dumps(v) for k, v in values}


def _of_pairs(text: str) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in text.split(",")]
    if not all(equals for _, equals, _ in pairs):
        raise ValueError("a pair without =")
    stripped = [(name.strip(), value) for name, _, value in pairs]
    return {k: v.replace("+", ",") if k in LISTS else v for k, v in stripped}


def _validation_error(error: ValidationError, origin: Mapping[str, str]) -> SettingsError:
    """The first problem as one line that names the variable, and the setting inside a group."""
    first = error.errors()[0]
    variable, *inside = (str(part) for part in first["loc"])
    where = "".join(f"[{part!r}]" for part in inside)
    context = first.get("ctx", {})
    problem = _PATTERN_TEXTS.get(context.get("pattern", ""), first["msg"])
    if problem == _PATTERN_TEXTS[MODEL] and re.fullmatch("openai:[^#]*", str(first["input"])):
        problem += "; #<model> is missing"
    limit = next((context[k] for k in ("ge", "le", "gt", "lt", "max_length") if k in context), None)
    return _settings_error(f"{origin.get(variable, variable)}{where}", problem, limit)


def _settings_error(variable: str, problem: str, limit: Any = None) -> SettingsError:
    name = variable.partition(":")[0].partition("[")[0]
    return SettingsError(f"environment variable {variable}: {problem}", field=name, limit=limit)


def _missing_error(variable: str, what: str) -> SettingsError:
    return _settings_error(variable, f"it is missing: it must be {what}")
