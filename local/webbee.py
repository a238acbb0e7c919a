"""The command line: `./webbee --help`."""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from typing import Any

from webbee_kernel.config import ALL_TABLES

from .project import URL
from .terminal import CliError, Command, paint

GROUPS = {
    "keys": "the key that signs webhooks' addresses: rotate (operator)",
    "models": "models: check what one can do",
    "mcp": "servers of the Model Context Protocol: list, add, approve",
}
"""First words of commands of two."""


class Commands:
    """Makes commands of a parser, each with `runs`, the module and function that run it."""

    def __init__(self, top: Command) -> None:
        self._top = top.add_subparsers(metavar="COMMAND", required=True)
        self._groups: dict[str, Any] = {}

    def add(self, words: str, runs: str, help: str, *, json: bool = True) -> Command:
        """A command of one word, or of two, of which the first is a group."""
        group, _, name = words.rpartition(" ")
        if group and group not in self._groups:
            of = self._top.add_parser(group, help=GROUPS[group])
            self._groups[group] = of.add_subparsers(metavar="ACTION", required=True)
        place = self._groups.get(group, self._top)
        made: Command = place.add_parser(
            name, help=help, description=f"{help[0].upper()}{help[1:]}."
        )
        made.set_defaults(runs=runs)
        if json:
            made.flag("--json", "print JSON")
        return made

    def of_api(self, name: str, runs: str, help: str) -> Command:
        """A command that asks the API."""
        made = self.add(name, runs, help)
        made.of_environment("--url", "WEBBEE_URL", f"address of the API, {URL}", URL)
        made.of_environment("--token", "WEBBEE_TOKEN", "bearer token, dev on this machine")
        return made


def parser() -> argparse.ArgumentParser:
    """Every command and its options."""
    told = "Talk to a Webbee kernel, look inside it, write extensions for it."
    top = Command(prog="webbee", description=told)
    commands = Commands(top)
    _of_users(commands)
    _of_authors(commands)
    _of_operators(commands)
    _of_servers(commands)
    return top


def _of_users(commands: Commands) -> None:
    chat = commands.of_api("chat", "cli.talk.chat", "say something, or hold a conversation")
    chat.words("message", "one message; none starts a conversation")
    chat.text("--session", "id of a session to go on with")

    told = "what the model would read, and why something is missing (role developer)"
    inspect = commands.of_api("inspect", "cli.talk.inspect", told)
    inspect.words("message", "a message not yet sent")
    inspect.text("--session", "the session whose memory is read")
    told = "find a value in every channel; exit status 1 when the model does not see it"
    inspect.text("--search", told, metavar="VALUE")

    told = "list sessions, show one, delete one"
    sessions = commands.of_api("sessions", "cli.talk.sessions", told)
    sessions.text("id", "show this one")
    sessions.text("--delete", "delete this one", metavar="ID")

    told = "refresh the skeleton sections now and wait for them (role developer)"
    refresh = commands.of_api("refresh", "cli.talk.refresh", told)
    refresh.text("app", "one app only")


def _of_authors(commands: Commands) -> None:
    told = "write a new extension that passes its own tests"
    new = commands.add("new", "cli.authors.new", told)
    new.needed("extension", "its id: a-z 0-9 _ -")
    new.text("--thing", "what one of its things is called; else asked")
    new.text("--about", "what it is, in one sentence; else asked")
    new.text("--address", "where they come from, or none; else asked, or kept", metavar="URL")
    new.folder("extensions")

    told = "check extensions: whether they load, rules and limits, with file and line"
    check = commands.add("check", "cli.authors.check", told)
    check.text("extension", "its folder, or its id; none checks every one of extensions/")

    told = "serve the API with your extensions and reload what you save"
    dev = commands.add("dev", "run.dev", told)
    dev.folder()
    dev.text("--host", "the address to listen at (127.0.0.1)", "127.0.0.1")
    dev.add_argument("--port", default=8000, type=_port, help="the port (8000)")
    dev.model()
    dev.text("--keep", "where state is kept (.webbee)", ".webbee")
    dev.flag("--fresh", "begin empty and keep nothing")
    dev.text("--origins", "pages of these origins may call the API: http://localhost:3000")

    test = commands.add("test", "cli.authors.test", "run the tests of extensions")
    test.folder()
    test.text("extension", "its id; none takes them all")
    test.words("rest", "for pytest, after --")

    told = "say the utterances of an extension's table: which function is called, and how"
    evaluate = commands.add("eval", "cli.evaluate.evaluate", told)
    evaluate.text("extension", "its id; none takes them all")
    evaluate.folder("extensions")
    evaluate.model()
    evaluate.add_argument("--least", default=0.0, type=float, help="share to be understood (0)")

    deploy = commands.add("deploy", "cli.deploy.deploy", "build and deploy with your extensions")
    deploy.folder()
    deploy.add_argument("--arch", default="arm64", choices=("arm64", "x86_64"))
    deploy.flag("--dry-run", "only make what would be built")
    deploy.deployment()


def _port(given: str) -> int:
    """A port by its number; ValueError for what is none."""
    if int(given) not in range(65_536):
        raise ValueError(given)
    return int(given)


def _of_operators(commands: Commands) -> None:
    told = "what is missing before sam deploy"
    ready = commands.add("deploy-check", "cli.deploy.deploy_check", told)
    ready.deployment()

    told = "write everything that is kept of a person to a file (operator)"
    export = commands.add("export", "cli.operators.export", told)
    export.needed("--into", "the file, lines of JSON")
    told = "erase everything that is kept of a person (operator)"
    erase = commands.add("erase", "cli.operators.erase", told)
    erase.flag("--yes", "do not ask")
    for command in (export, erase):
        command.needed("--tenant", "the person's tenant")
        command.needed("--user", "the person's id, as tokens name it")
        command.stack()
        command.repeated("--app", "an extension no longer deployed that may have left data")

    told = "copy the items of a restored table back into the stack's own (operator)"
    restore = commands.add("restore", "cli.operators.restore", told)
    restore.needed("table", "which of the stack's tables", choices=ALL_TABLES)
    restore.needed("--from", "the restored table's name", dest="source", metavar="TABLE")
    restore.stack()
    restore.text("--tenant", "of this tenant only")
    restore.text("--user", "of this user only")
    restore.flag("--overwrite", "also what has changed since; else what is missing")
    restore.flag("--dry-run", "only say what would be done")

    told = "a new key; the one before stays good until the next rotation"
    rotate = commands.add("keys rotate", "cli.operators.rotate", told)
    rotate.stack()
    rotate.text("--secret", "the secret's ARN, where it is not the stack's")

    told = "ask a model what it can do, and say what to do about the rest"
    model = commands.add("models check", "models.check", told)
    told = "where local starts find what was learned (.webbee); empty keeps nothing"
    model.text("--keep", told, ".webbee", metavar="FOLDER")
    model.of_environment("model", "WEBBEE_MODEL", "bedrock:<id> or openai:<base-url>#<model>")


def _of_servers(commands: Commands) -> None:
    told = "what servers there are, and what is wrong with them"
    listed = commands.add("mcp list", "mcp_servers.listed", told)
    told = "name a server in webbee.toml and approve what it offers"
    add = commands.add("mcp add", "mcp_servers.add", told, json=False)
    told = "look at what servers offer now, and approve it"
    approve = commands.add("mcp approve", "mcp_servers.approve", told, json=False)
    for command in (listed, add, approve):
        command.folder()
        command.of_environment("--token", "WEBBEE_MCP_TOKEN", "for a server that wants one")
    for command in (add, approve):
        command.flag("--yes", "approve without asking")
        command.text("--only", "a comma list; no others", metavar="TOOLS")
    approve.words("ids", "servers; none takes them all")
    add.needed("id", "id of its app: a-z 0-9 -")
    add.text("--server", "its address", metavar="URL")
    add.text("--name", "what people read")
    add.flag("--bearer", "it wants a token")
    add.flag("--oauth", "its users sign in; you do now")
    add.text("--public-url", f"where users come back to from its provider ({URL})", URL)
    told = "a variable of the command; NAME alone is kept as a reference to this shell's"
    add.repeated("--env", told, "NAME[=VALUE]")
    add.text("--cwd", "the command's folder", metavar="DIR")
    add.words("rest", "after --: a command that runs it here")


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
    """Run one command: 0 well, 1 not, 2 wrong usage. Its module is imported only then: some bring
    boto3, some the whole kernel."""
    options = _parsed((sys.argv[1:] if arguments is None else arguments) or ["--help"])
    module, _, name = options.runs.rpartition(".")
    try:
        return int(getattr(import_module(f"{__package__}.{module}"), name)(options))
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 0
    except CliError as error:
        told = str(error)
    except OSError as error:
        told = f"{error.filename}: {error.strerror}" if error.filename else str(error)
    print(paint("webbee: ", "red") + told, file=sys.stderr)
    return 1


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # a check of what was saved last would hold `dev` for seconds
