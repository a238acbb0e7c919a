"""An AWS account on loopback, as far as a deployment asks it before it begins: Lambda's quotas, the
functions of a stack, CloudFormation's parameters, a key in the parameter store."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import parse_qs
from xml.sax.saxutils import escape

from .service import Reply, Request, served

NAMESPACE = "http://cloudformation.amazonaws.com/doc/2010-05-15/"


@dataclass
class Account:
    """What the account has. `functions` are those of the stack, by logical id; `parameters` None
    where there is no stack."""

    executions: int = 1_000
    unreserved: int = 1_000
    functions: dict[str, dict[str, Any]] = field(default_factory=dict)
    reserved: dict[str, int] = field(default_factory=dict)
    parameters: dict[str, str] | None = None
    key: str = ""
    is_denied: bool = False

    def __enter__(self) -> Self:
        def answer(request: Request) -> Reply:
            if request.method == "GET":
                status, text = self.of_lambda(request.path)
            else:
                target = request.headers.get("x-amz-target", "")
                status, text = self.posted(target, request.body.decode())
            kind = "text/xml" if text.startswith("<") else "application/json"
            return Reply(text.encode(), status, {"content-type": kind})

        self._serving = served(answer=answer)
        self.url = self._serving.__enter__().url
        return self

    def __exit__(self, *error: Any) -> None:
        self._serving.__exit__(*error)

    def of_lambda(self, path: str) -> tuple[int, str]:
        if self.is_denied:
            return 403, json.dumps({"__type": "AccessDeniedException", "message": "no"})
        if path.startswith("/2016-08-19/account-settings"):
            left = {"UnreservedConcurrentExecutions": self.unreserved}
            limits = {"ConcurrentExecutions": self.executions, **left}
            return 200, json.dumps({"AccountLimit": limits})
        name = path.split("/")[3]
        if path.endswith("/concurrency"):
            held = self.reserved.get(name)
            return 200, json.dumps({"ReservedConcurrentExecutions": held} if held else {})
        return 200, json.dumps(self.functions[name])

    def posted(self, target: str, body: str) -> tuple[int, str]:
        if target == "AmazonSSM.GetParameter":
            return 200, json.dumps({"Parameter": {"Name": "key", "Value": self.key}})
        action = parse_qs(body)["Action"][0]
        if self.parameters is None:
            error = "<Code>ValidationError</Code><Message>Stack webbee does not exist</Message>"
            return 400, f'<ErrorResponse xmlns="{NAMESPACE}"><Error>{error}</Error></ErrorResponse>'
        if action == "DescribeStackResources":
            kind = "<ResourceType>AWS::Lambda::Function</ResourceType>"
            members = [
                f"<LogicalResourceId>{n}</LogicalResourceId><PhysicalResourceId>{n}"
                f"</PhysicalResourceId>{kind}"
                for n in self.functions
            ]
            inside = f"<StackResources>{_members(members)}</StackResources>"
        else:
            given = [
                f"<ParameterKey>{name}</ParameterKey><ParameterValue>{escape(value)}</ParameterValue>"
                for name, value in self.parameters.items()
            ]
            stack = f"<StackName>webbee</StackName><Parameters>{_members(given)}</Parameters>"
            inside = f"<Stacks>{_members([stack])}</Stacks>"
        result = f"<{action}Result>{inside}</{action}Result>"
        return 200, f'<{action}Response xmlns="{NAMESPACE}">{result}</{action}Response>'


def _members(parts: list[str]) -> str:
    return "".join(f"<member>{part}</member>" for part in parts)
