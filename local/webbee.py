"""The command line: `./webbee --help`."""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from typing import Any

from webbee_kernel.config import ALL_TABLES

from .project import URL
from .terminal import CliError, paint

FLAG: Any = {"action": "store_true", "default": False}


def parser() -> argparse.ArgumentParser:
    """Every command and its options."""
    told = "Talk to a Webbee kernel, look inside it, write extensions for it."
    top = argparse.ArgumentParser(prog="webbee", description=told)
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    for add in (_of_users, _of_authors, _of_operators, _of_servers):
        add(commands)
    return top


def _command(
    among: Any, name: str, runs: str, help: str, *shared: argparse.ArgumentParser
) -> argparse.ArgumentParser:
    """A command, with the module and function that run it, and options that others have, too. An
    option without a default is empty."""
    about = f"{help[0].upper()}{help[1:]}."
    made: argparse.ArgumentParser = among.add_parser(
        name, help=help, description=about, parents=shared, argument_default=""
    )
    made.set_defaults(runs=runs)
    return made


def _shared(name: str, variable: str = "", **more: Any) -> argparse.ArgumentParser:
    """One option of several commands, which must not change its default; its value may stand in a
    variable of the environment."""
    made = argparse.ArgumentParser(add_help=False, argument_default="")
    if variable:
        more["help"] = f"{more['help']} ({variable})"
        more["default"] = os.environ.get(variable) or more.get("default", "")
    made.add_argument(name, **more)
    return made


JSON = _shared("--json", **FLAG, help="print JSON")
FOLDER = _shared("--into", help="folder of extensions (extensions)")
STACK = _shared("--stack", default="webbee", help="the CloudFormation stack (webbee)")
PARAMETERS = _shared(
    "--parameters", nargs="*", default=[], metavar="NAME=VALUE", help="of template.yaml"
)
FOR_SAM = _shared("rest", nargs="*", default=None, help="for sam deploy, after --")


def _of_users(commands: Any) -> None:
    url = _shared("--url", "WEBBEE_URL", default=URL, help=f"address of the API, {URL}")
    token = _shared("--token", "WEBBEE_TOKEN", help="bearer token, dev on this machine")
    api = (JSON, url, token)

    told = "say something"
    chat = _command(commands, "chat", "cli.talk.chat", told, *api)
    chat.add_argument("message", nargs="+", help="what is said")
    chat.add_argument("--session", help="id of a session to go on with")

    told = "what the model would read, and why something is missing (role developer)"
    inspect = _command(commands, "inspect", "cli.talk.inspect", told, *api)
    inspect.add_argument("message", nargs="*", help="a message not yet sent")
    inspect.add_argument("--session", help="the session whose memory is read")
    told = "find a value in every channel; exit status 1 when the model does not see it"
    inspect.add_argument("--search", help=told, metavar="VALUE")


def _of_authors(commands: Any) -> None:
    told = "write a new extension that passes its own tests"
    new = _command(commands, "new", "cli.authors.new", told, JSON)
    new.add_argument("--into", default="extensions", help="folder of extensions (extensions)")
    new.add_argument("extension", help="its id: a-z 0-9 _ -")
    new.add_argument("--thing", help="what one of its things is called; else asked")
    new.add_argument("--about", help="what it is, in one sentence; else asked")
    told = "where they come from, or none; else asked, or kept"
    new.add_argument("--address", help=told, metavar="URL")

    told = "check extensions: whether they load, rules and limits, with file and line"
    check = _command(commands, "check", "cli.authors.check", told, JSON)
    told = "its folder, or its id; none checks every one of extensions/"
    check.add_argument("extension", nargs="?", help=told)

    told = "serve the API with your extensions and reload what you save"
    dev = _command(commands, "dev", "run.dev", told, FOLDER)
    dev.add_argument("--model", default="offline", help="as of make run (offline)")
    dev.add_argument("--host", default="127.0.0.1", help="the address to listen at (127.0.0.1)")
    dev.add_argument("--port", default=8000, type=_port, help="the port (8000)")
    dev.add_argument("--keep", default=".webbee", help="where state is kept (.webbee)")
    dev.add_argument("--fresh", **FLAG, help="begin empty and keep nothing")
    told = "pages of these origins may call the API: http://localhost:3000"
    dev.add_argument("--origins", help=told)

    told = "run the tests of extensions"
    test = _command(commands, "test", "cli.authors.test", told, FOLDER)
    test.add_argument("extension", nargs="?", help="its id; none takes them all")
    test.add_argument("rest", nargs="*", default=None, help="for pytest, after --")

    told, shared = "build and deploy with your extensions", (FOLDER, PARAMETERS, FOR_SAM)
    deploy = _command(commands, "deploy", "cli.deploy.deploy", told, *shared)
    deploy.add_argument("--arch", default="arm64", choices=("arm64", "x86_64"))


def _port(given: str) -> int:
    """A port by its number; ValueError for what is none."""
    if int(given) not in range(65_536):
        raise ValueError(given)
    return int(given)


def _of_operators(commands: Any) -> None:
    told, shared = "what is missing before sam deploy", (JSON, PARAMETERS, FOR_SAM)
    _command(commands, "deploy-check", "cli.deploy.deploy_check", told, *shared)

    tenant = _shared("--tenant", required=True, help="the person's tenant")
    user = _shared("--user", required=True, help="the person's id, as tokens name it")
    told = "an extension no longer deployed that may have left data"
    person = (JSON, tenant, user, STACK, _shared("--app", action="append", default=[], help=told))
    told = "write everything that is kept of a person to a file (operator)"
    export = _command(commands, "export", "cli.operators.export", told, *person)
    export.add_argument("--into", required=True, help="the file, lines of JSON")
    told = "erase everything that is kept of a person (operator)"
    erase = _command(commands, "erase", "cli.operators.erase", told, *person)
    erase.add_argument("--yes", **FLAG, help="do not ask")

    told = "copy the items of a restored table back into the stack's own (operator)"
    restore = _command(commands, "restore", "cli.operators.restore", told, JSON, STACK)
    restore.add_argument("table", choices=ALL_TABLES, help="which of the stack's tables")
    told = "the restored table's name"
    restore.add_argument("--from", required=True, dest="source", metavar="TABLE", help=told)
    restore.add_argument("--tenant", help="of this tenant only")
    restore.add_argument("--user", help="of this user only")
    restore.add_argument("--overwrite", **FLAG, help="also what is there; else what is missing")

    told = "bedrock:<id> or openai:<base-url>#<model>"
    named = _shared("model", "WEBBEE_MODEL", nargs="?", help=told)
    models = _group(commands, "models", "models: check what one can do")
    told = "ask a model what it can do, and say what to do about the rest"
    _command(models, "check", "models.check", told, JSON, named)


def _group(commands: Any, name: str, help: str) -> Any:
    """Commands of two words, of which this is the first."""
    return commands.add_parser(name, help=help).add_subparsers(metavar="ACTION", required=True)


def _of_servers(commands: Any) -> None:
    mcp = _group(commands, "mcp", "servers of the Model Context Protocol: list, add, approve")
    token = _shared("--token", "WEBBEE_MCP_TOKEN", help="for a server that wants one")
    told = "what servers there are, and what is wrong with them"
    _command(mcp, "list", "mcp_servers.listed", told, JSON, FOLDER, token)

    yes = _shared("--yes", **FLAG, help="approve without asking")
    only = _shared("--only", metavar="TOOLS", help="a comma list; no others")
    look = (FOLDER, token, yes, only)
    told = "look at what servers offer now, and approve it"
    approve = _command(mcp, "approve", "mcp_servers.approve", told, *look)
    approve.add_argument("ids", nargs="*", help="servers; none takes them all")
    told = "name a server in webbee.toml and approve what it offers"
    add = _command(mcp, "add", "mcp_servers.add", told, *look)
    add.add_argument("id", help="id of its app: a-z 0-9 -")
    add.add_argument("--server", metavar="URL", help="its address")
    add.add_argument("--name", help="what people read")
    add.add_argument("--bearer", **FLAG, help="it wants a token")
    add.add_argument("--oauth", **FLAG, help="its users sign in; you do now")
    told = f"where users come back to from its provider ({URL})"
    add.add_argument("--public-url", default=URL, help=told)
    told = "a variable of the command; NAME alone is kept as a reference to this shell's"
    add.add_argument("--env", action="append", default=[], metavar="NAME[=VALUE]", help=told)
    add.add_argument("--cwd", metavar="DIR", help="the command's folder")
    add.add_argument("rest", nargs="*", default=None, help="after --: a command that runs it here")


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
