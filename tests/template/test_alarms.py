"""Every alarm rings on what its functions record when things go wrong, and is quiet while they go
right. The kernel's own metrics are what it writes; those of AWS are points of the same names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import pytest

from local.template import Template, resources
from tests.alarms import Point, alarm, calculate, embedded, state
from webbee_kernel.base.metrics import answered, measure, metered

NOW = 1_779_000_000.0
MINUTES = 15
Work = Callable[[int], object]
"""What one invocation counts, by its number."""


def recorded(
    function: str, version: str, work: Work, *, a_minute: int = 5, minutes: Iterable[int] = ()
) -> list[Point]:
    """The points of so many invocations in each of these minutes, counted back from now; by default
    in the last fifteen."""
    points: list[Point] = []
    for minute in minutes or range(MINUTES):
        for n in range(a_minute):
            lines: list[str] = []
            with metered(function, "Webbee/webbee", dict, version=version, write=lines.append):
                work(n)
            at = NOW - 60 * (minute + 1) + n * 60 / a_minute
            points += [point for line in lines for point in embedded(line, at)]
    return points


def of_aws(
    name: str, value: float, *, minutes: Iterable[int] = range(MINUTES), **dimensions: str
) -> list[Point]:
    """Points of a metric that AWS records, one a minute."""
    namespace = {"FunctionName": "AWS/Lambda", "ApiId": "AWS/ApiGateway", "QueueName": "AWS/SQS"}
    [kind] = dimensions
    named = frozenset(dimensions.items())
    return [
        Point(namespace[kind], name, named, NOW - 60 * (minute + 1), value) for minute in minutes
    ]


def some_fail(of: int) -> Work:
    """One request of so many fails."""
    return lambda n: answered(failed=n % of == 0)


def broken_release(function: str) -> list[Point]:
    """A canary: the old version answers nine of ten requests, the new one fails every one."""
    old = recorded(function, "7", lambda n: answered(failed=False), a_minute=18)
    return old + recorded(function, "8", lambda n: answered(failed=True), a_minute=2)


def good_release(function: str) -> list[Point]:
    """The old version has its failures, the new one hardly any."""
    old = recorded(function, "7", some_fail(2), a_minute=18)
    return old + recorded(function, "8", some_fail(20), a_minute=20)


def calls(of: int) -> Work:
    """One call of so many raises."""

    def work(n: int) -> None:
        measure("Calls")
        measure("CallFailures", n % of == 0)

    return work


def refreshes(of: int) -> Work:
    """One refresh of so many fails."""
    return lambda n: measure("RefreshFailures" if n % of == 0 else "Refreshes")


def tick(overdue: float) -> Work:
    """A tick that finds what is so many seconds past its time."""

    def work(_: int) -> None:
        measure("Ticks")
        measure("OldestDueSeconds", overdue)

    return work


def traffic(_: int) -> None:
    """Refreshes that run while no tick does."""
    answered(failed=False)
    measure("Refreshes")


def ticking(overdue: float = 0) -> list[Point]:
    return recorded("skeleton_refresh", "8", tick(overdue), a_minute=1)


FUNCTIONS = {
    "ChatTurn": "chat_turn",
    "ToolDispatch": "tool_dispatch",
    "SkeletonRefresh": "skeleton_refresh",
}
RINGS: Mapping[str, list[list[Point]]] = {
    **{
        f"{name}Errors": [of_aws("Errors", 4, FunctionName=f"{name}Function")] for name in FUNCTIONS
    },
    **{
        f"{name}Throttles": [of_aws("Throttles", 1, minutes=(0, 3), FunctionName=f"{name}Function")]
        for name in FUNCTIONS
    },
    **{
        f"{name}ServerErrors": [broken_release(function), recorded(function, "8", some_fail(5))]
        for name, function in FUNCTIONS.items()
    },
    "CallsFail": [recorded("tool_dispatch", "8", calls(2))],
    "RefreshesFail": [recorded("skeleton_refresh", "8", refreshes(1))],
    "SlowTurns": [of_aws("Duration", 21_000, FunctionName="ChatTurnFunction")],
    "ApiServerErrors": [of_aws("5xx", 6, ApiId="Api")],
    "RefreshesWait": [
        of_aws("ApproximateAgeOfOldestMessage", 400, QueueName="RefreshQueue.QueueName")
    ],
    "RefreshesDead": [
        of_aws(
            "ApproximateNumberOfMessagesVisible", 1, QueueName="RefreshDeadLetterQueue.QueueName"
        )
    ],
    "SectionsOverdue": [
        ticking(overdue=700),
        recorded("skeleton_refresh", "8", lambda n: measure("Ticks"), a_minute=1),  # each one dies
        recorded("skeleton_refresh", "8", traffic),
    ],
    "ClockStopped": [recorded("skeleton_refresh", "8", traffic), []],
}
QUIET: Mapping[str, list[list[Point]]] = {
    **{
        f"{name}Errors": [
            of_aws("Errors", 2, FunctionName=f"{name}Function"),
            of_aws("Errors", 30, minutes=[0], FunctionName=f"{name}Function"),  # one bad minute
            broken_release(function),  # which is why ServerErrors are counted
        ]
        for name, function in FUNCTIONS.items()
    },
    **{f"{name}Throttles": [of_aws("Throttles", 0, FunctionName=name)] for name in FUNCTIONS},
    **{
        f"{name}ServerErrors": [
            good_release(function),
            recorded(function, "8", lambda n: answered(failed=True), a_minute=2, minutes=[1]),
            recorded(function, "8", some_fail(1), minutes=range(6, MINUTES))
            + recorded(function, "8", lambda n: answered(failed=False), minutes=[1]),  # it is over
            [],
        ]
        for name, function in FUNCTIONS.items()
    },
    "CallsFail": [
        recorded("tool_dispatch", "8", calls(10), a_minute=20),
        recorded("tool_dispatch", "7", calls(1)),
    ],
    "RefreshesFail": [
        recorded("skeleton_refresh", "8", refreshes(3), a_minute=30),
        recorded("skeleton_refresh", "8", refreshes(1), a_minute=1),  # one account that is away
    ],
    "SlowTurns": [of_aws("Duration", 4_000, FunctionName="ChatTurnFunction")],
    "ApiServerErrors": [of_aws("5xx", 1, ApiId="Api")],
    "RefreshesWait": [
        of_aws("ApproximateAgeOfOldestMessage", 60, QueueName="RefreshQueue.QueueName")
    ],
    "RefreshesDead": [
        of_aws(
            "ApproximateNumberOfMessagesVisible", 0, QueueName="RefreshDeadLetterQueue.QueueName"
        )
    ],
    "SectionsOverdue": [ticking(overdue=30)],
    "ClockStopped": [ticking()],
}


def test_every_alarm_is_heard_and_unheard_here(template: Template) -> None:
    declared = {name for name, _ in resources(template, "AWS::CloudWatch::Alarm")}
    assert declared == RINGS.keys() == QUIET.keys()


@pytest.mark.parametrize(
    ("name", "points"), [(name, points) for name, cases in RINGS.items() for points in cases]
)
def test_an_alarm_rings(template: Template, name: str, points: list[Point]) -> None:
    assert state(alarm(template, name), points, NOW) == "ALARM"


@pytest.mark.parametrize(
    ("name", "points"), [(name, points) for name, cases in QUIET.items() for points in cases]
)
def test_an_alarm_is_quiet(template: Template, name: str, points: list[Point]) -> None:
    assert state(alarm(template, name), points, NOW) == "OK"


def test_a_broken_release_is_taken_back_within_two_minutes_of_its_canary(
    template: Template,
) -> None:
    rollback = alarm(template, "ChatTurnServerErrors")
    points = broken_release("chat_turn")
    began = NOW - 60 * MINUTES
    since = [p for p in points if p.at >= began]
    assert state(rollback, since, began + 120) == "ALARM"


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
    two = of_aws("Age", 9, minutes=(0, 4), QueueName="q")  # the second is just out of the three
    one = of_aws("Age", 9, minutes=[0], QueueName="q")
    assert state({**asked, "TreatMissingData": "notBreaching"}, two, NOW) == "ALARM"
    assert state({**asked, "TreatMissingData": "notBreaching"}, one, NOW) == "OK"
    assert state({**asked, "TreatMissingData": "breaching"}, one, NOW) == "ALARM"
    assert state(asked, [], NOW) == "INSUFFICIENT_DATA"


@pytest.mark.parametrize(
    ("failed", "requests", "share"), [(0, 10, 0), (2, 2, 0), (3, 30, 10), (None, 5, None)]
)
def test_a_share_is_computed_from_three_failures_on(
    template: Template, failed: float | None, requests: float, share: float | None
) -> None:
    expression = alarm(template, "ChatTurnServerErrors")["Metrics"][0]["Expression"]
    assert calculate(expression, {"failed": failed, "requests": requests}) == share
