"""The command line: `./webbee --help`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import TypeAlias

from .project import ROOT, URL
from .terminal import CliError, paint

TABLES = "sessions skeleton cache store audit events transcripts limits connections".split()
"""The tables by noun (`webbee_kernel.config.ALL_TABLES`; a test compares them)."""
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def late(module: str, name: str) -> Callable[[argparse.Namespace], int]:
    """A command whose module is imported when it runs: some bring boto3, some the whole kernel."""

    def run(options: argparse.Namespace) -> int:
        return int(getattr(import_module(f"{__package__}.cli.{module}"), name)(options))

    return run


def parser() -> argparse.ArgumentParser:
    """Every command and its options."""
    top = argparse.ArgumentParser(
        prog="webbee",
        description="Talk to a Webbee kernel, look inside it, write extensions for it.",
    )
    commands = top.add_subparsers(metavar="COMMAND", required=True)

    def command(
        name: str, run: Callable[[argparse.Namespace], int], help: str, *, api: bool = True
    ) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=help, description=f"{help[0].upper()}{help[1:]}.")
        made.set_defaults(run=run)
        made.add_argument("--json", action="store_true", help="print JSON")
        if api:
            made.add_argument(
                "--url",
                default=os.environ.get("WEBBEE_URL") or URL,
                help=f"address of the API (WEBBEE_URL, {URL})",
            )
            made.add_argument(
                "--token",
                default=os.environ.get("WEBBEE_TOKEN", ""),
                help="bearer token (WEBBEE_TOKEN; dev on this machine)",
            )
        return made

    chat = command("chat", late("talk", "chat"), "say something, or hold a conversation")
    chat.add_argument("message", nargs="*", help="one message; none starts a conversation")
    chat.add_argument("--session", default="", help="id of a session to go on with")

    inspect = command(
        "inspect",
        late("talk", "inspect"),
        "what the model would read, and why something is missing (role developer)",
    )
    inspect.add_argument("message", nargs="*", help="a message not yet sent")
    inspect.add_argument("--session", default="", help="the session whose memory is read")
    inspect.add_argument(
        "--search",
        default="",
        metavar="VALUE",
        help="find a value in every channel; exit status 1 when the model does not see it",
    )

    sessions = command("sessions", late("talk", "sessions"), "list sessions, show one, delete one")
    sessions.add_argument("id", nargs="?", default="", help="show this one")
    sessions.add_argument("--delete", default="", metavar="ID", help="delete this one")

    refresh = command(
        "refresh",
        late("talk", "refresh"),
        "refresh the skeleton sections now and wait for them (role developer)",
    )
    refresh.add_argument("app", nargs="?", default="", help="one app only")

    new = command(
        "new", late("scaffold", "new"), "write a new extension that passes its own tests", api=False
    )
    new.add_argument("extension", help="its id: a-z 0-9 _ -")
    new.add_argument("--thing", default="", help="what one of its things is called; else asked")
    new.add_argument("--about", default="", help="what it is, in one sentence; else asked")
    new.add_argument(
        "--address", default="", metavar="URL", help="where they come from; else asked, or kept"
    )
    new.add_argument("--into", default="extensions", help="folder of extensions (extensions)")

    checked = command(
        "check",
        late("authors", "check"),
        "check extensions: whether they load, rules and limits, with file and line",
        api=False,
    )
    checked.add_argument(
        "extension",
        nargs="?",
        default="",
        help="its folder, or its id; none checks every one of extensions/",
    )

    for name, run, what in (
        (
            "export",
            late("operators", "export"),
            "write everything that is kept of a person to a file (operator)",
        ),
        (
            "erase",
            late("operators", "erase"),
            "erase everything that is kept of a person (operator)",
        ),
    ):
        person = command(name, run, what, api=False)
        person.add_argument("--tenant", required=True, help="the person's tenant")
        person.add_argument("--user", required=True, help="the person's id, as tokens name it")
        person.add_argument(
            "--stack",
            default="webbee",
            help="the CloudFormation stack (webbee); credentials and"
            " region are those of the AWS command line",
        )
        person.add_argument(
            "--app",
            action="append",
            default=[],
            help="an extension that is no longer deployed and may have left data; repeatable",
        )
        if name == "export":
            person.add_argument("--into", required=True, help="the file, lines of JSON")
        else:
            person.add_argument("--yes", action="store_true", help="do not ask")
    _restore(command)
    _keys(commands)
    _models(commands)
    evaluated = command(
        "eval",
        late("evaluate", "evaluate"),
        "say the utterances of an extension's table: which function is called, and how",
        api=False,
    )
    evaluated.add_argument("extension", nargs="?", default="", help="its id; none takes them all")
    evaluated.add_argument("--into", default="extensions", help="folder of extensions (extensions)")
    evaluated.add_argument("--model", default="offline", help="as of make run (offline)")
    evaluated.add_argument("--least", default=0.0, type=float, help="share to be understood (0)")

    dev = command(
        "dev",
        late("authors", "dev"),
        "serve the API with your extensions and reload what you save",
        api=False,
    )
    tested = command("test", late("authors", "test"), "run the tests of extensions", api=False)
    sent = command(
        "deploy", late("authors", "deploy"), "build and deploy with your extensions", api=False
    )
    for made in (dev, tested, sent):
        made.add_argument("--into", default="", help="folder of extensions (extensions)")
    dev.add_argument("--host", default="127.0.0.1")
    dev.add_argument("--port", default=8000, type=int)
    dev.add_argument("--model", default="offline", help="as of make run (offline)")
    dev.add_argument("--keep", default=".webbee", help="where state is kept (.webbee)")
    dev.add_argument("--fresh", action="store_true", help="begin empty and keep nothing")
    tested.add_argument("extension", nargs="?", default="", help="its id; none takes them all")
    tested.add_argument("rest", nargs="*", help="for pytest, after --")
    sent.add_argument("--arch", default="arm64", choices=("arm64", "x86_64"))
    sent.add_argument("--dry-run", action="store_true", help="only make what would be built")
    sent.add_argument(
        "--parameters", nargs="*", default=[], metavar="NAME=VALUE", help="of template.yaml"
    )
    sent.add_argument("rest", nargs="*", help="for sam deploy, after --")

    _mcp(commands)
    deployed = command(
        "deploy-check",
        late("deploy", "deploy_check"),
        "what is missing before sam deploy",
        api=False,
    )
    deployed.add_argument(
        "--config",
        default=str(ROOT / "samconfig.toml"),
        help="the samconfig file that will be used",
    )
    deployed.add_argument(
        "--parameters", nargs="*", default=[], metavar="NAME=VALUE", help="of template.yaml"
    )
    deployed.add_argument("rest", nargs="*", help="for sam deploy, after --")
    return top


def _restore(command: Callable[..., argparse.ArgumentParser]) -> None:
    """`webbee restore`."""
    restored = command(
        "restore",
        late("operators", "restore"),
        "copy the items of a restored table back into the stack's own (operator)",
        api=False,
    )
    restored.add_argument("table", choices=TABLES, help="which of the stack's tables")
    restored.add_argument(
        "--from", dest="source", required=True, metavar="TABLE", help="the restored table's name"
    )
    restored.add_argument("--stack", default="webbee", help="the CloudFormation stack (webbee)")
    restored.add_argument("--tenant", default="", help="of this tenant only")
    restored.add_argument("--user", default="", help="of this user only")
    restored.add_argument(
        "--overwrite", action="store_true", help="also what has changed since; else what is missing"
    )
    restored.add_argument("--dry-run", action="store_true", help="only say what would be done")


def _keys(commands: Commands) -> None:
    """`webbee keys rotate`."""
    told = "the key that signs webhooks' addresses: rotate (operator)"
    actions = commands.add_parser("keys", help=told).add_subparsers(metavar="ACTION", required=True)
    what = "a new key; the one before stays good until the next rotation"
    rotated = actions.add_parser("rotate", help=what, description=f"{what[0].upper()}{what[1:]}.")
    rotated.set_defaults(run=late("operators", "rotate"))
    rotated.add_argument("--json", action="store_true", help="print JSON")
    rotated.add_argument("--stack", default="webbee", help="the CloudFormation stack (webbee)")
    rotated.add_argument(
        "--secret", default="", help="the secret's ARN, where it is not the stack's"
    )


def _models(commands: Commands) -> None:
    """`webbee models check`."""
    told = "models: check what one can do"
    actions = commands.add_parser("models", help=told).add_subparsers(
        metavar="ACTION", required=True
    )
    what = "ask a model what it can do, and say what to do about the rest"
    made = actions.add_parser("check", help=what, description=f"{what[0].upper()}{what[1:]}.")
    made.set_defaults(run=late("models", "check"))
    made.add_argument("--json", action="store_true", help="print JSON")
    made.add_argument(
        "--keep",
        default=".webbee",
        metavar="FOLDER",
        help="where local starts find what was learned (.webbee); empty keeps nothing",
    )
    made.add_argument(
        "model",
        nargs="?",
        default=os.environ.get("WEBBEE_MODEL", ""),
        help="bedrock:<id> or openai:<base-url>#<model> (WEBBEE_MODEL)",
    )


def _mcp(commands: Commands) -> None:
    """`webbee mcp list|add|approve`."""
    told = "servers of the Model Context Protocol: list, add, approve"
    actions = commands.add_parser("mcp", help=told).add_subparsers(metavar="ACTION", required=True)
    for name, function, what in (
        ("list", "listed", "what servers there are, and what is wrong with them"),
        ("add", "add", "name a server in webbee.toml and approve what it offers"),
        ("approve", "approve", "look at what servers offer now, and approve it"),
    ):
        made = actions.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.")
        made.set_defaults(run=late("mcp", function))
        made.add_argument("--into", default="", help="folder of extensions (extensions)")
        made.add_argument(
            "--token",
            default=os.environ.get("WEBBEE_MCP_TOKEN", ""),
            help="for a server that wants one (WEBBEE_MCP_TOKEN)",
        )
        if name == "list":
            made.add_argument("--json", action="store_true", help="print JSON")
            continue
        made.add_argument("--yes", action="store_true", help="approve without asking")
        made.add_argument("--only", default="", metavar="TOOLS", help="a comma list; no others")
        if name == "approve":
            made.add_argument("ids", nargs="*", help="servers; none takes them all")
            continue
        made.add_argument("id", help="id of its app: a-z 0-9 -")
        made.add_argument("--server", default="", metavar="URL", help="its address")
        made.add_argument("--name", default="", help="what people read")
        made.add_argument("--bearer", action="store_true", help="it wants a token")
        made.add_argument("--oauth", action="store_true", help="its users sign in; you do now")
        made.add_argument(
            "--public-url",
            default=URL,
            help="where users come back to from its provider (http://127.0.0.1:8000)",
        )
        made.add_argument(
            "--env",
            action="append",
            default=[],
            metavar="NAME[=VALUE]",
            help="a variable of the command; NAME alone is kept as a reference to this shell's",
        )
        made.add_argument("--cwd", default="", metavar="DIR", help="the command's folder")
        made.add_argument("rest", nargs="*", help="after --: a command that runs it here")


def _parsed(arguments: list[str]) -> argparse.Namespace:
    """The options. What stands after `--` is another program's: argparse itself loses it where an
    option stands between it and the word before."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    options = parser().parse_args(arguments[:at])
    if "rest" not in options:
        return parser().parse_args(arguments)
    options.rest += arguments[at + 1 :]
    return options


def main(arguments: list[str] | None = None) -> int:
    """Run one command: 0 well, 1 not, 2 wrong usage."""
    options = _parsed(sys.argv[1:] if arguments is None else arguments)
    try:
        return int(options.run(options))
    except CliError as error:
        print(paint("webbee: ", "red") + str(error), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 0


if __name__ == "__main__":
    sys.exit(main())
