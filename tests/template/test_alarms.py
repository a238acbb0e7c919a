"""Every alarm rings on what is recorded when things go wrong, and is quiet while they go right. The
kernel's own metrics are what it writes; those of AWS are points with the names that AWS gives
them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

from local.template import Template, resources
from tests.alarms import Point, alarm, calculate, embedded, state
from webbee_kernel.observability import collect_metrics, count_request, measure

NOW = 1_779_000_000.0
MINUTES = 15
Work = Callable[[int], object]
"""What one invocation counts, by its number."""

NAMES = {
    "ChatTurn": "chat_turn",
    "ToolDispatch": "tool_dispatch",
    "SkeletonRefresh": "skeleton_refresh",
    "ModelBroker": "model_broker",
}


def moments(a_minute: float, minutes: float) -> list[float]:
    """When so many requests a minute arrive in the last minutes, evenly."""
    count = round(a_minute * minutes)
    return [NOW - 60 * minutes + (n + 0.5) * 60 / a_minute for n in range(count)]


def recorded(
    function: str, version: str, work: Work, *, a_minute: float = 5, minutes: float = MINUTES
) -> list[Point]:
    """The points that the kernel writes of so many invocations a minute."""
    points: list[Point] = []
    for n, at in enumerate(moments(a_minute, minutes)):
        lines: list[str] = []
        with collect_metrics(function, "Webbee/webbee", dict, version=version, write=lines.append):
            work(n)
        points += [point for line in lines for point in embedded(line, at)]
    return points


def aws(namespace: str, name: str, at: float, value: float, **dimensions: str) -> Point:
    return Point(namespace, name, frozenset(dimensions.items()), at, value)


def in_every_minute(
    namespace: str, name: str, value: float, minutes: Iterable[float] = range(MINUTES), **of: str
) -> list[Point]:
    """One point in each of these minutes, counted back from now."""
    return [aws(namespace, name, NOW - 60 * minute - 30, value, **of) for minute in minutes]


def invoked(
    name: str,
    fails: Callable[[int, str], bool],
    *,
    a_minute: float,
    minutes: float = MINUTES,
    canary: bool = False,
) -> list[Point]:
    """What Lambda counts of invocations through the alias: for the function, and for the version
    that ran. Every tenth goes to version 8 in a canary, all of them otherwise."""
    function = f"{name}Function"
    points = []
    for n, at in enumerate(moments(a_minute, minutes)):
        version = "8" if not canary or n % 10 == 9 else "7"
        ran = {"FunctionName": function, "Resource": f"{function}:live", "ExecutedVersion": version}
        for of in ({"FunctionName": function}, ran):
            points.append(aws("AWS/Lambda", "Invocations", at, 1, **of))
            points.append(aws("AWS/Lambda", "Errors", at, fails(n, version), **of))
    return points


def new_version_crashes(_: int, version: str) -> bool:
    """It raises while it is imported: none of our lines runs, so no metric of ours is written."""
    return version == "8"


def all_is_well(*_: object) -> bool:
    return False


def served(
    fails: Callable[[int], bool], *, a_minute: float, minutes: float = MINUTES
) -> list[Point]:
    """What API Gateway counts of requests."""
    return [
        point
        for n, at in enumerate(moments(a_minute, minutes))
        for point in (
            aws("AWS/ApiGateway", "Count", at, 1, ApiId="Api"),
            aws("AWS/ApiGateway", "5xx", at, fails(n), ApiId="Api"),
        )
    ]


def every_request_fails(_: int) -> bool:
    return True


def healthy(a_minute: float) -> list[Point]:
    """An hour of requests that are answered, until five minutes ago."""
    answered_well = served(all_is_well, a_minute=a_minute, minutes=60)
    return [point for point in answered_well if point.at < NOW - 300]


def sockets(name: str, value: float, minutes: Iterable[float] = range(MINUTES)) -> list[Point]:
    """What API Gateway counts of the WebSocket API."""
    return in_every_minute("AWS/ApiGateway", name, value, minutes, ApiId="LiveApi")


def throttled(name: str, minutes: Iterable[float]) -> list[Point]:
    return in_every_minute("AWS/Lambda", "Throttles", 1, minutes, FunctionName=f"{name}Function")


def answers(of: int) -> Work:
    """One request of so many fails on our side."""
    return lambda n: count_request(failed=n % of == 0)


def calls(of: int) -> Work:
    """One call of so many raises."""

    def work(n: int) -> None:
        count_request(failed=False)
        measure("Calls")
        measure("CallFailures", n % of == 0)

    return work


def refreshes(of: int) -> Work:
    """One refresh of so many fails."""
    return lambda n: measure("RefreshFailures" if n % of == 0 else "Refreshes")


def turns(milliseconds: Callable[[int], float]) -> Work:
    return lambda n: measure("TurnMs", milliseconds(n))


def tick(overdue: float) -> Work:
    """A tick that finds what is so many seconds past its time."""

    def work(_: int) -> None:
        measure("Ticks")
        measure("OldestDueSeconds", overdue)

    return work


def other_work(_: int) -> None:
    """Refreshes that run while no tick does."""
    count_request(failed=False)
    measure("Refreshes")


def ticking(overdue: float = 0, minutes: float = MINUTES) -> list[Point]:
    return recorded("skeleton_refresh", "8", tick(overdue), a_minute=1, minutes=minutes)


def ticked_until(minutes_ago: float) -> list[Point]:
    """A clock that ran for half an hour and has stood still for so many minutes."""
    return [p for p in ticking(minutes=30) if p.at < NOW - 60 * minutes_ago]


def queue(name: str, metric: str, value: float) -> list[Point]:
    return in_every_minute("AWS/SQS", metric, value, QueueName=f"{name}.QueueName")


def old_and_new(function: str, new: Work, *, a_minute: float = 20) -> list[Point]:
    """A canary's own metrics: the old version answers nine of ten requests well."""
    old = recorded(function, "7", lambda n: count_request(failed=False), a_minute=a_minute * 0.9)
    return old + recorded(function, "8", new, a_minute=a_minute / 10)


OWN_WAYS: Mapping[str, Mapping[str, list[Point]]] = {
    "ToolDispatch": {
        "every second call raises": recorded("tool_dispatch", "8", calls(2)),
        "every call raises, one turn a minute": recorded(
            "tool_dispatch", "8", calls(1), a_minute=1, minutes=2
        ),
    },
    "SkeletonRefresh": {"every refresh fails": recorded("skeleton_refresh", "8", refreshes(1))},
}
RINGS: Mapping[str, Mapping[str, list[Point]]] = {
    **{
        f"{name}Release": {
            "raises at import, one request a minute": invoked(
                name, new_version_crashes, a_minute=1, minutes=5
            ),
            "raises at import, its first request": invoked(
                name, new_version_crashes, a_minute=1, minutes=1
            ),
            "raises at import, two minutes of a canary of a tenth": invoked(
                name, new_version_crashes, a_minute=20, minutes=2, canary=True
            ),
            "raises at import, one a minute, a canary of a tenth": invoked(
                name, new_version_crashes, a_minute=1, minutes=10, canary=True
            ),
            "one in eight crashes": invoked(name, lambda n, _: n % 8 == 0, a_minute=20),
            "answers every request with a 500, a canary": old_and_new(
                function, lambda n: count_request(failed=True)
            ),
            "answers every request with a 500, one a minute": recorded(
                function, "8", answers(1), a_minute=1, minutes=2
            )
            + invoked(name, all_is_well, a_minute=1, minutes=2),
            "answers one request in five with a 500": recorded(function, "8", answers(5)),
            **OWN_WAYS.get(name, {}),
        }
        for name, function in NAMES.items()
    },
    "FunctionsFail": {
        **{
            f"{name} {what}": points
            for name in NAMES
            for what, points in {
                "crashes, once in five minutes": invoked(name, lambda *_: True, a_minute=0.2),
                "crashes now and then under load": invoked(
                    name, lambda n, _: n % 100 < 3, a_minute=100, minutes=5
                ),
            }.items()
        },
    },
    "FunctionsThrottled": {
        f"{name} is refused concurrency": throttled(name, (0, 3)) for name in NAMES
    },
    "ApiFails": {
        "an outage at one request in five minutes": served(
            every_request_fails, a_minute=0.2, minutes=10
        ),
        **{
            f"an outage of five minutes after an hour of health, {a_minute} a minute": healthy(
                a_minute
            )
            + served(every_request_fails, a_minute=a_minute, minutes=5)
            for a_minute in (1, 2, 20)
        },
        "one request in eight, under load": served(lambda n: n % 8 == 0, a_minute=60),
        "a few of very many": served(lambda n: n % 40 == 0, a_minute=400, minutes=3),
        "WebSockets that do not reach the function": sockets("ExecutionError", 1, (0, 6))
        + sockets("ConnectCount", 20),
        "WebSockets that the function refuses all": sockets("IntegrationError", 6)
        + sockets("ConnectCount", 6),
        "a stream of events that stands still": in_every_minute(
            "AWS/Lambda", "IteratorAge", 90_000, FunctionName="ChatTurnFunction"
        ),
    },
    "SlowTurns": {
        "behind pages that poll and a 202": recorded(
            "chat_turn", "8", turns(lambda n: 42_000), a_minute=2
        )
        + in_every_minute("AWS/Lambda", "Duration", 40, FunctionName="ChatTurnFunction"),
        "at one turn in five minutes": recorded(
            "chat_turn", "8", turns(lambda n: 42_000), a_minute=0.2
        ),
    },
    "RefreshesLate": {
        "the clock stands still, five minutes": ticked_until(5),
        "the clock never ran": [],
        "the clock stands still while other work goes on": recorded(
            "skeleton_refresh", "8", other_work
        ),
        "each tick dies before it looks": recorded(
            "skeleton_refresh", "8", lambda n: measure("Ticks"), a_minute=1
        ),
        "sections are far past their time": ticking(overdue=700),
        "messages wait": ticking() + queue("RefreshQueue", "ApproximateAgeOfOldestMessage", 400),
    },
    "MessagesPutAside": {
        "one is enough": queue("RefreshDeadLetterQueue", "ApproximateNumberOfMessagesVisible", 1)
    },
}
QUIET: Mapping[str, Mapping[str, list[Point]]] = {
    **{
        f"{name}Release": {
            "the old version fails": invoked(
                name, lambda _, version: version == "7", a_minute=20, canary=True
            )
            + recorded(function, "7", answers(2), a_minute=18),
            "one timeout among many": invoked(name, lambda n, _: n == 70, a_minute=20),
            "one request in twenty-five": recorded(function, "8", answers(25), a_minute=25)
            + invoked(name, all_is_well, a_minute=25),
            "one failure alone": recorded(function, "8", answers(1), a_minute=1, minutes=1)
            + invoked(name, all_is_well, a_minute=1),
            "nobody there": [],
        }
        for name, function in NAMES.items()
    },
    "FunctionsFail": {
        "one crash": invoked("ToolDispatch", lambda n, _: n == 2, a_minute=0.2, minutes=30),
        "nobody there": [],
    },
    "FunctionsThrottled": {"one refusal": throttled("ChatTurn", [3]), "nobody there": []},
    "ApiFails": {
        "one failure, hardly anybody there": served(lambda n: n == 2, a_minute=0.2, minutes=30),
        "one in a hundred": served(lambda n: n % 100 == 0, a_minute=100),
        "old tickets": sockets("IntegrationError", 6) + sockets("ConnectCount", 30),
        "an old page that tries again": sockets("IntegrationError", 2) + sockets("ConnectCount", 2),
        "nobody there": [],
    },
    "SlowTurns": {
        "one long turn": recorded(
            "chat_turn", "8", turns(lambda n: 200_000 if n == 40 else 4_000), a_minute=4
        ),
        "nobody there": [],
    },
    "RefreshesLate": {
        "a deployment between two ticks": ticked_until(4),
        "one slow tick": ticking(overdue=30),
    },
    "MessagesPutAside": {
        "none": queue("RefreshDeadLetterQueue", "ApproximateNumberOfMessagesVisible", 0)
    },
}


def cases(table: Mapping[str, Mapping[str, list[Point]]], expected: str) -> list[Any]:
    return [
        pytest.param(name, points, expected, id=f"{expected}: {name}: {story}")
        for name, stories in table.items()
        for story, points in stories.items()
    ]


def normal_hour() -> list[Point]:
    """Twenty requests a minute and what goes wrong in such an hour: a timeout, two 5xx, a long
    turn, a throttle, an extension that raises now and then, pages with old tickets."""
    points = [
        *invoked("ChatTurn", lambda n, _: n == 500, a_minute=20, minutes=60),
        *invoked("ToolDispatch", lambda n, _: n == 300, a_minute=10, minutes=60),
        *invoked("SkeletonRefresh", all_is_well, a_minute=3, minutes=60),
        *invoked("ModelBroker", lambda n, _: n == 50, a_minute=2, minutes=60),
        *recorded("model_broker", "8", answers(30), a_minute=2, minutes=60),
        *recorded("chat_turn", "8", answers(60), a_minute=4, minutes=60),
        *recorded("chat_turn", "8", turns(lambda n: 90_000 if n == 9 else 5_000), minutes=60),
        *recorded("tool_dispatch", "8", calls(20), a_minute=10, minutes=60),
        *recorded("skeleton_refresh", "8", refreshes(8), a_minute=3, minutes=60),
        *ticking(overdue=20, minutes=60),
        *served(lambda n: n in (400, 900), a_minute=20, minutes=60),
        *throttled("ToolDispatch", [31]),
        *sockets("ConnectCount", 10, range(60)),
        *sockets("IntegrationError", 1, range(60)),
        *in_every_minute(
            "AWS/Lambda", "IteratorAge", 900, range(60), FunctionName="ChatTurnFunction"
        ),
    ]
    for name, metric, value in (
        ("RefreshQueue", "ApproximateAgeOfOldestMessage", 40),
        ("RefreshDeadLetterQueue", "ApproximateNumberOfMessagesVisible", 0),
    ):
        points += in_every_minute(
            "AWS/SQS", metric, value, range(60), QueueName=f"{name}.QueueName"
        )
    return points


def alarms(template: Template) -> set[str]:
    return {name for name, _ in resources(template, "AWS::CloudWatch::Alarm")}


def test_every_alarm_is_heard_and_unheard_here(template: Template) -> None:
    assert alarms(template) == RINGS.keys() == QUIET.keys()


@pytest.mark.parametrize(
    ("name", "points", "expected"),
    [*cases(RINGS, "ALARM"), *cases(QUIET, "OK")],
)
def test_an_alarm_rings_or_is_quiet(
    template: Template, name: str, points: list[Point], expected: str
) -> None:
    assert state(alarm(template, name), points, NOW) == expected


def test_a_normal_hour_is_quiet(template: Template) -> None:
    points = normal_hour()
    for name in alarms(template):
        asked = alarm(template, name)
        looked_at = [p for p in points if f"'{p.name}'" in str(asked)]
        for minute in range(40):  # the windows before lie in the hour too
            assert state(asked, looked_at, NOW - 60 * minute) == "OK", (name, minute)


def test_an_alarm_looks_at_no_more_than_cloudwatch_lets_it(template: Template) -> None:
    for name in alarms(template):
        found = alarm(template, name)
        metrics = [m["MetricStat"] for m in found.get("Metrics", ()) if "MetricStat" in m]
        assert len(metrics) <= 10, name
        assert len({m["Period"] for m in metrics}) <= 1, name
        assert found["EvaluationPeriods"] * (found.get("Period") or metrics[0]["Period"]) <= 86_400


def test_a_missing_minute_is_treated_as_the_alarm_says() -> None:
    asked = {
        "Namespace": "AWS/SQS",
        "MetricName": "Age",
        "Dimensions": [{"Name": "QueueName", "Value": "q"}],
        "Statistic": "Maximum",
        "Period": 60,
        "EvaluationPeriods": 3,
        "DatapointsToAlarm": 2,
        "Threshold": 5,
        "ComparisonOperator": "GreaterThanOrEqualToThreshold",
    }
    # the second is just out of the three
    two = in_every_minute("AWS/SQS", "Age", 9, (0, 4), QueueName="q")
    one = in_every_minute("AWS/SQS", "Age", 9, [0], QueueName="q")
    assert state({**asked, "TreatMissingData": "notBreaching"}, two, NOW) == "ALARM"
    assert state({**asked, "TreatMissingData": "notBreaching"}, one, NOW) == "OK"
    assert state({**asked, "TreatMissingData": "breaching"}, one, NOW) == "ALARM"
    assert state(asked, [], NOW) == "INSUFFICIENT_DATA"


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("a + b", None),
        ("FILL(b, 7) + a", 10),
        ("FILL(b, 0) >= 1 || a >= 3", 1),
        ("FILL(b, 0) >= 1 && a >= 3", 0),
        ("a > 1 && b > 1", None),
        ("IF(a > 5, 1, 0.5) * a", 1.5),
        ("a / FILL(b, 0)", None),
        ("other + 1", 4),
    ],
)
def test_metric_math_is_missing_where_a_point_is_unless_it_is_filled(
    expression: str, value: float | None
) -> None:
    assert calculate(expression, {"a": 3, "b": None}, {"other": "a"}) == value
