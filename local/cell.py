"""The local cell: extension code in processes of its own, one for each tenant, with an environment
of their own.

A process serves all calls of its tenant side by side, where Lambda has one for each call at a time:
a crash takes the calls beside it along.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from webbee_kernel.api.model_broker import BrokerService
from webbee_kernel.api.process_pool import MEMORY_MB, SECONDS, ProcessPool
from webbee_kernel.config import GROUPS, Settings, variable_of

from .aws import account, lambda_api
from .loopback import served
from .project import child_environment
from .template import Template, environment

NAME = "cell"
"""What callers invoke (`WEBBEE_DISPATCH`)."""
BROKER = "model_broker"
"""What the cell invokes for `ctx.ai`."""
FUNCTION = "ToolDispatchFunction"

ORDINARY = (
    *("PATH", "HOME", "USER", "LANG", "LANGUAGE", "TZ", "TERM", "NO_COLOR", "TMPDIR", "TEMP"),
    *("SYSTEMROOT", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "PYTHONUTF8"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
)
"""Variables of this machine that a program needs to run; of the rest the cell sees what the
template gives its function."""
BEYOND = ("WEBBEE_DEVELOP", "WEBBEE_CALL_SECONDS", "WEBBEE_HTTP_ALLOW_PRIVATE")
"""Settings that only a local cell has."""


class Broker(BrokerService):
    """What `model_broker` is in the cloud: asks the model of this process's settings."""

    def invoke(self, event: Any) -> Any:
        """Its answer."""
        return asyncio.run(self.handle(event))


@contextmanager
def local_cell(env: Mapping[str, str], template: Template) -> Iterator[tuple[ProcessPool, str]]:
    """A cell for the time of the block, loading when this yields, and where it is invoked
    (`AWS_ENDPOINT_URL_LAMBDA`). `env` is the deployment's."""
    broker = Broker(Settings.from_env(env, "model_broker"))
    with (
        served(account(), "aws-port", secret=True) as aws,
        lambda_api({BROKER: broker}, secret=True) as models,
    ):
        cell = ProcessPool(cell_environment(env, template, aws, models))
        with lambda_api({NAME: cell}, secret=True) as url:
            cell.start()
            try:
                yield cell, url
            finally:
                cell.stop()


def cell_environment(
    env: Mapping[str, str], template: Template, aws: str, models: str
) -> dict[str, str]:
    """What the cell's processes see: what the template gives its function, and what a program needs
    to run here. No key of a model, no value of an app's secret, no credentials: `ctx.ai` asks at
    `models`, and the rest comes with a call.
    """
    named = environment(template, FUNCTION)
    inside = [variable_of(n) for group in GROUPS if group in named for n in GROUPS[group]]
    given = {*named, *inside, *ORDINARY, *BEYOND}
    seen = {k: v for k, v in env.items() if k in given or k.startswith("LC_")}
    seen |= {"PYTHONPATH": child_environment()["PYTHONPATH"], "PYTHONUTF8": "1"}
    region = env["AWS_DEFAULT_REGION"]
    memory = str(template["Parameters"]["Memory"]["Default"])
    return {
        **seen,
        "AWS_ACCESS_KEY_ID": "cell",
        "AWS_SECRET_ACCESS_KEY": "cell",
        "AWS_DEFAULT_REGION": region,
        "AWS_REGION": region,
        "AWS_ENDPOINT_URL": aws,
        "AWS_ENDPOINT_URL_LAMBDA": models,
        "WEBBEE_MODEL_BROKER": BROKER,
        MEMORY_MB: dict(p.split("=") for p in memory.split(","))["ToolDispatch"],
        SECONDS: str(template["Resources"][FUNCTION]["Properties"]["Timeout"]),
    }
