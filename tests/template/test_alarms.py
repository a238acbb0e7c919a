"""Every alarm rings on what is recorded when things go wrong, and is quiet while they go right. The
kernel's own metrics are what it writes; those of AWS are points with the names that AWS gives
them."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import pytest

from local.template import Template, resources
from tests.alarms import Point, alarm, embedded, grouped, state
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
    function: str, work: Work, *, version: str = "8", a_minute: float = 5, minutes: float = MINUTES
) -> list[Point]:
    """The points that the kernel writes of so many invocations a minute."""
    points: list[Point] = []
    for n, at in enumerate(moments(a_minute, minutes)):
        metrics = collect_metrics(function, "Webbee/webbee", version=version)
        with redirect_stdout(StringIO()) as lines, metrics:
            work(n)
        points += [point for line in lines.getvalue().splitlines() for point in embedded(line, at)]
    return points


def aws(namespace: str, name: str, at: float, value: float, **dimensions: str) -> Point:
    return Point(f"AWS/{namespace}", name, frozenset(dimensions.items()), at, value)


def in_every_minute(
    namespace: str, name: str, value: float, minutes: Iterable[float] = range(MINUTES), **of: str
) -> list[Point]:
    """One point in each of these minutes, counted back from now."""
    return [aws(namespace, name, NOW - 60 * minute - 30, value, **of) for minute in minutes]


Fails = Callable[[int, str], bool]
"""Whether a request fails, by its number and the version that ran."""


def invoked(
    name: str, fails: Fails, *, a_minute: float, minutes: float = MINUTES, canary: bool = False
) -> list[Point]:
    """What Lambda counts of invocations through the alias: for the function, and for the version
    that ran. Every tenth goes to version 8 in a canary, all of them otherwise."""
    function = f"{name}Function"
    points = []
    for n, at in enumerate(moments(a_minute, minutes)):
        version = "8" if not canary or n % 10 == 9 else "7"
        ran = {"FunctionName": function, "Resource": f"{function}:live", "ExecutedVersion": version}
        for of in ({"FunctionName": function}, ran):
            points.append(aws("Lambda", "Invocations", at, 1, **of))
            points.append(aws("Lambda", "Errors", at, fails(n, version), **of))
    return points


def at_import(_: int, version: str) -> bool:
    """The new version raises while it is imported: no metric of ours is written."""
    return version == "8"


def never(*_: object) -> bool:
    return False


def always(*_: object) -> bool:
    return True


def each(of: int) -> Callable[..., bool]:
    """One of so many."""
    return lambda n, *_: n % of == 0


def served(
    fails: Callable[[int], bool], *, a_minute: float, minutes: float = MINUTES
) -> list[Point]:
    """What API Gateway counts of requests."""
    points = []
    for n, at in enumerate(moments(a_minute, minutes)):
        points.append(aws("ApiGateway", "Count", at, 1, ApiId="Api"))
        points.append(aws("ApiGateway", "5xx", at, fails(n), ApiId="Api"))
    return points


def outage(a_minute: float) -> list[Point]:
    """Five minutes of it after an hour of requests that were answered."""
    well = [p for p in served(never, a_minute=a_minute, minutes=60) if p.at < NOW - 300]
    return well + served(always, a_minute=a_minute, minutes=5)


def sockets(name: str, value: float, minutes: Iterable[float] = range(MINUTES)) -> list[Point]:
    """What API Gateway counts of the WebSocket API."""
    return in_every_minute("ApiGateway", name, value, minutes, ApiId="LiveApi")


def of_function(
    name: str, metric: str, value: float, minutes: Iterable[float] = range(MINUTES)
) -> list[Point]:
    return in_every_minute("Lambda", metric, value, minutes, FunctionName=f"{name}Function")


def answers(fails: Callable[..., bool]) -> Work:
    """Requests that fail on our side."""
    return lambda n: count_request(failed=fails(n))


def calls(fails: Callable[..., bool]) -> Work:
    def work(n: int) -> None:
        count_request(failed=False)
        measure("Calls")
        measure("CallFailures", fails(n))

    return work


def refreshes(fails: Callable[..., bool]) -> Work:
    return lambda n: measure("RefreshFailures" if fails(n) else "Refreshes")


def turns(
    milliseconds: Callable[[int], float], a_minute: float = 5, minutes: float = MINUTES
) -> list[Point]:
    def work(n: int) -> None:
        measure("TurnMs", milliseconds(n))

    return recorded("chat_turn", work, a_minute=a_minute, minutes=minutes)


def ticking(overdue: float | None = 0, minutes: float = MINUTES) -> list[Point]:
    """Ticks that find what is so many seconds past its time, or die before they look."""

    def work(_: int) -> None:
        measure("Ticks")
        if overdue is not None:
            measure("OldestDueSeconds", overdue)

    return recorded("skeleton_refresh", work, a_minute=1, minutes=minutes)


def ticked_until(minutes_ago: float) -> list[Point]:
    """A clock that ran for half an hour and has stood still for so many minutes."""
    return [p for p in ticking(minutes=30) if p.at < NOW - 60 * minutes_ago]


WAITING = ("RefreshQueue", "ApproximateAgeOfOldestMessage")
DEAD = ("RefreshDeadLetterQueue", "ApproximateNumberOfMessagesVisible")


def queue(
    of: tuple[str, str], value: float, minutes: Iterable[float] = range(MINUTES)
) -> list[Point]:
    name, metric = of
    return in_every_minute("SQS", metric, value, minutes, QueueName=f"{name}.QueueName")


def canary(function: str, new: Work) -> list[Point]:
    """Its own metrics: the old version answers nine of ten requests well."""
    old = recorded(function, answers(never), version="7", a_minute=18)
    return old + recorded(function, new, a_minute=2)


Stories = Mapping[str, Mapping[str, list[Point]]]
OWN_WAYS: Stories = {
    "ToolDispatch": {
        "every second call raises": recorded("tool_dispatch", calls(each(2))),
        "every call raises, one turn a minute": recorded(
            "tool_dispatch", calls(always), a_minute=1, minutes=2
        ),
    },
    "SkeletonRefresh": {"every refresh fails": recorded("skeleton_refresh", refreshes(always))},
}
RINGS: Stories = {
    **{
        f"{name}Release": {
            "raises at import, its first request": invoked(name, at_import, a_minute=1, minutes=1),
            "raises at import, one a minute, a canary of a tenth": invoked(
                name, at_import, a_minute=1, minutes=10, canary=True
            ),
            "one in eight crashes": invoked(name, each(8), a_minute=20),
            "answers every request with a 500, a canary": canary(function, answers(always)),
            "answers every request with a 500, one a minute": [
                *recorded(function, answers(always), a_minute=1, minutes=2),
                *invoked(name, never, a_minute=1, minutes=2),
            ],
            "answers one request in five with a 500": recorded(function, answers(each(5))),
            **OWN_WAYS.get(name, {}),
        }
        for name, function in NAMES.items()
    },
    "FunctionsFail": {
        **{
            f"{name} crashes, once in five minutes": invoked(name, always, a_minute=0.2)
            for name in NAMES
        },
        "one crashes now and then under load": invoked(
            "ModelBroker", lambda n, _: n % 100 < 3, a_minute=100, minutes=5
        ),
    },
    "FunctionsThrottled": {
        f"{name} is refused concurrency": of_function(name, "Throttles", 1, (0, 3))
        for name in NAMES
    },
    "ApiFails": {
        "an outage at one request in five minutes": served(always, a_minute=0.2, minutes=10),
        **{f"an outage after an hour of health, {n} a minute": outage(n) for n in (1, 2, 20)},
        "one request in eight, under load": served(each(8), a_minute=60),
        "a few of very many": served(each(40), a_minute=400, minutes=3),
        "WebSockets that do not reach the function": [
            *sockets("ExecutionError", 1, (0, 6)),
            *sockets("ConnectCount", 20),
        ],
        "WebSockets that the function refuses all": [
            *sockets("IntegrationError", 6),
            *sockets("ConnectCount", 6),
        ],
        "a stream of events that stands still": of_function("ChatTurn", "IteratorAge", 90_000),
    },
    "SlowTurns": {
        "behind pages that poll and a 202": [
            *turns(lambda n: 42_000, a_minute=2),
            *of_function("ChatTurn", "Duration", 40),
        ],
        "at one turn in five minutes": turns(lambda n: 42_000, a_minute=0.2),
    },
    "RefreshesLate": {
        "the clock stands still, five minutes": ticked_until(5),
        "the clock never ran": [],
        "the clock stands still while other work goes on": recorded(
            "skeleton_refresh", refreshes(never)
        ),
        "each tick dies before it looks": ticking(overdue=None),
        "sections are far past their time": ticking(overdue=700),
        "messages wait": ticking() + queue(WAITING, 400),
    },
    "MessagesPutAside": {"one is enough": queue(DEAD, 1)},
}
QUIET: Stories = {
    **{
        f"{name}Release": {
            "the old version fails": [
                *invoked(name, lambda _, version: version == "7", a_minute=20, canary=True),
                *recorded(function, answers(each(2)), version="7", a_minute=18),
            ],
            "one failure alone": [
                *recorded(function, answers(always), a_minute=1, minutes=1),
                *invoked(name, never, a_minute=1),
            ],
        }
        for name, function in NAMES.items()
    },
    "FunctionsFail": {
        "one crash": invoked("ToolDispatch", lambda n, _: n == 2, a_minute=0.2, minutes=30),
    },
    "ApiFails": {
        "one failure, hardly anybody there": served(lambda n: n == 2, a_minute=0.2, minutes=30),
        "one in a hundred": served(each(100), a_minute=100),
        "an old page that tries again": sockets("IntegrationError", 2) + sockets("ConnectCount", 2),
    },
    "RefreshesLate": {"a deployment between two ticks": ticked_until(4)},
}
"""Beside a normal hour, and one in which nobody is there."""


def cases(table: Stories, expected: str) -> list[Any]:
    return [
        pytest.param(name, points, expected, id=f"{expected}: {name}: {story}")
        for name, stories in table.items()
        for story, points in stories.items()
    ]


def normal_hour() -> list[Point]:
    """Twenty requests a minute and what goes wrong in such an hour: a timeout, two 5xx, a long
    turn, a throttle, an extension that raises now and then, pages with old tickets."""
    return [
        *invoked("ChatTurn", lambda n, _: n == 500, a_minute=20, minutes=60),
        *invoked("ToolDispatch", lambda n, _: n == 300, a_minute=10, minutes=60),
        *invoked("SkeletonRefresh", never, a_minute=3, minutes=60),
        *invoked("ModelBroker", lambda n, _: n == 50, a_minute=2, minutes=60),
        *recorded("model_broker", answers(each(30)), a_minute=2, minutes=60),
        *recorded("chat_turn", answers(each(60)), a_minute=4, minutes=60),
        *turns(lambda n: 90_000 if n == 9 else 5_000, minutes=60),
        *recorded("tool_dispatch", calls(each(20)), a_minute=10, minutes=60),
        *recorded("skeleton_refresh", refreshes(each(8)), a_minute=3, minutes=60),
        *ticking(overdue=20, minutes=60),
        *served(lambda n: n in (400, 900), a_minute=20, minutes=60),
        *of_function("ToolDispatch", "Throttles", 1, [31]),
        *sockets("ConnectCount", 10, range(60)),
        *sockets("IntegrationError", 1, range(60)),
        *of_function("ChatTurn", "IteratorAge", 900, range(60)),
        *queue(WAITING, 40, range(60)),
        *queue(DEAD, 0, range(60)),
    ]


@pytest.mark.parametrize(
    ("name", "points", "expected"),
    [*cases(RINGS, "ALARM"), *cases(QUIET, "OK")],
)
def test_an_alarm_rings_or_is_quiet(
    template: Template, name: str, points: list[Point], expected: str
) -> None:
    assert state(alarm(template, name), points, NOW) == expected


def test_a_normal_hour_is_quiet_and_so_is_one_without_anybody(template: Template) -> None:
    points = grouped(normal_hour())
    assert dict(resources(template, "AWS::CloudWatch::Alarm")).keys() == RINGS.keys()
    for name in RINGS:
        asked = alarm(template, name)
        alone = state(asked, [], NOW)
        assert alone == ("ALARM" if name == "RefreshesLate" else "OK"), name  # the clock ticks
        for minute in range(40):  # the windows before lie in the hour too
            assert state(asked, points, NOW - 60 * minute) == "OK", (name, minute)


def test_an_alarm_looks_at_no_more_than_cloudwatch_lets_it(template: Template) -> None:
    for name in RINGS:
        found = alarm(template, name)
        metrics = [m["MetricStat"] for m in found.get("Metrics", ()) if "MetricStat" in m]
        assert len(metrics) <= 10, name
        assert len({m["Period"] for m in metrics}) <= 1, name
        assert found["EvaluationPeriods"] * (found.get("Period") or metrics[0]["Period"]) <= 86_400
