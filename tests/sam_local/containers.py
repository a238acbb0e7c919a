"""What `sam local` needs where no registry can be reached: a Docker engine, and a base image.

SAM runs a function in a container of the public Lambda image. Here that image is made of this
machine's parts: Python 3.13 with its libraries, the runtime client of `.venv-emulator`, BusyBox for
the commands that SAM's own image build runs. SAM adds the runtime emulator it ships with.
"""

import io
import os
import re
import shutil
import stat
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from local.project import ROOT
from tests.emulator.runtime import MACHINE

PYTHON = "python3.13"
IMAGE = f"public.ecr.aws/lambda/python:3.13-{MACHINE}"
"""The name SAM looks for."""

COMMANDS = ("sh", "mv", "chmod", "cp", "ls", "cat", "mkdir", "rm", "ln", "env")
SKIPPED = ("site-packages", "test", "idlelib", "tkinter", "ensurepip", "turtledemo", "__pycache__")
BY_NAME = (
    *("libnss_dns.so.2", "libnss_files.so.2", "libresolv.so.2"),
    *("libgcc_s.so.1", "libstdc++.so.6"),
    *("libpthread.so.0", "libdl.so.2", "librt.so.1", "libutil.so.1"),
)
"""Libraries that glibc loads by name, and those that wheels built for older systems link to."""

BOOTSTRAP = f"""#!/bin/sh
export AWS_EXECUTION_ENV=AWS_Lambda_{PYTHON}
export PYTHONPATH="/opt/python:/var/runtime${{PYTHONPATH:+:$PYTHONPATH}}"
cd "${{LAMBDA_TASK_ROOT:-/var/task}}"
exec /var/lang/bin/{PYTHON} -m awslambdaric "${{_HANDLER:-$AWS_LAMBDA_FUNCTION_HANDLER}}"
"""
CHANGES = (
    "ENV PATH=/var/lang/bin:/usr/bin:/bin",
    "ENV LANG=C.UTF-8",
    "ENV LAMBDA_TASK_ROOT=/var/task",
    "ENV LAMBDA_RUNTIME_DIR=/var/runtime",
    "WORKDIR /var/task",
)


FOLDER = "webbee-docker-"
"""How the temporary folders of engines begin."""

STARTS_S = 60.0
"""A folder younger than this may be an engine's that has not said its process yet."""


class NoEngine(Exception):
    """No Docker engine answers, and none can be started: the message says what is missing."""


@contextmanager
def engine() -> Iterator[Mapping[str, str]]:
    """The environment in which `docker` and `sam` reach an engine: the machine's own, or one
    started for the time of the block, its data in a temporary folder, nothing open to the network.
    """
    if shutil.which("docker") is None:
        raise NoEngine("docker is not installed")
    if _answers(os.environ):
        yield dict(os.environ)
        return
    if shutil.which("dockerd") is None or os.geteuid() != 0:
        raise NoEngine("no Docker engine answers, and starting one takes dockerd and root")
    _clear_remains()
    with tempfile.TemporaryDirectory(prefix=FOLDER) as folder:
        env = {**os.environ, "DOCKER_HOST": f"unix://{folder}/docker.sock"}
        log = Path(folder, "dockerd.log")
        with log.open("wb") as out:
            daemon = subprocess.Popen(_dockerd(folder), stdout=out, stderr=subprocess.STDOUT)
            try:
                _wait(env, daemon, log)
                yield env
            finally:
                daemon.terminate()
                daemon.wait(30)


def _clear_remains() -> None:
    """Remove what engines of this kind left that were killed: their containers' networks keep
    addresses that new containers are given, too, and then are not reached."""
    for left in Path(tempfile.gettempdir()).glob(f"{FOLDER}*"):
        if _serves(left) or time.time() - left.stat().st_mtime < STARTS_S:
            continue
        for mounted in _mounted_below(left):
            subprocess.run(["umount", "--lazy", mounted], check=False, capture_output=True)
        shutil.rmtree(left, ignore_errors=True)


def _serves(folder: Path) -> bool:
    """Whether the engine of this folder is alive; it writes `pid` when it starts."""
    try:
        process = Path("/proc", (folder / "pid").read_text("ascii").strip(), "comm")
        return process.read_text("ascii").strip() == "dockerd"
    except OSError:
        return False


def _mounted_below(folder: Path) -> list[str]:
    """Mount points in a folder, the innermost first."""
    mounts = Path("/proc/self/mounts").read_text("utf-8").splitlines()
    points = (line.split(" ")[1] for line in mounts)
    return sorted((point for point in points if point.startswith(f"{folder}/")), reverse=True)


def _dockerd(folder: str) -> list[str]:
    private = ("--iptables=false", "--ip6tables=false", "--ip-forward=false", "--ip-masq=false")
    places = ("--data-root", f"{folder}/data", "--exec-root", f"{folder}/exec")
    listen = ("-H", f"unix://{folder}/docker.sock", "--pidfile", f"{folder}/pid")
    return ["dockerd", *places, *listen, *private, "--ip", "127.0.0.1", "--log-level", "warn"]


def _answers(env: Mapping[str, str]) -> bool:
    asked = subprocess.run(["docker", "info"], env=dict(env), capture_output=True, check=False)
    return asked.returncode == 0 and b"Server Version" in asked.stdout


def _wait(env: Mapping[str, str], daemon: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(150):
        if _answers(env):
            return
        if daemon.poll() is not None:
            break
        time.sleep(0.2)
    raise NoEngine(f"dockerd does not start here: {log.read_text('utf-8')[-500:]}")


def provide_image(env: Mapping[str, str]) -> None:
    """Make the base image where the engine has none of its name."""
    found = ["docker", "image", "inspect", IMAGE]
    if subprocess.run(found, env=dict(env), capture_output=True, check=False).returncode == 0:
        return
    changes = [part for change in CHANGES for part in ("--change", change)]
    command = ["docker", "import", *changes, "-", IMAGE]
    subprocess.run(command, env=dict(env), input=_root(), check=True, capture_output=True)


def _root() -> bytes:
    """The image's file system as a tar archive."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for folder in ("tmp", "opt", "var/task", "var/rapid", "proc", "sys", "dev", "root"):
            _folder(tar, folder)
        _shell(tar)
        _interpreter(tar)
        site = next((ROOT / ".venv-emulator").glob("lib/python3*/site-packages"))
        tar.add(site, "var/runtime", filter=_kept)
        _text(tar, "var/runtime/bootstrap", BOOTSTRAP, 0o755)
        _text(tar, "etc/passwd", "root:x:0:0:root:/root:/bin/sh\n")
        _text(tar, "etc/nsswitch.conf", "hosts: files dns\n")
    return packed.getvalue()


def _shell(tar: tarfile.TarFile) -> None:
    busybox = shutil.which("busybox")
    if busybox is None:
        raise NoEngine("busybox is not installed (Debian: busybox-static)")
    tar.add(busybox, "bin/busybox")
    for command in COMMANDS:
        link = tarfile.TarInfo(f"bin/{command}")
        link.type, link.linkname = tarfile.SYMTYPE, "busybox"
        tar.addfile(link)
    for library in _linked([busybox]):
        tar.add(library.resolve(), library.as_posix().lstrip("/"))


def _interpreter(tar: tarfile.TarFile) -> None:
    """The interpreter of `.venv-313`, its standard library, and what both link to."""
    code = "import sys, sysconfig; print(sys._base_executable, sysconfig.get_path('stdlib'))"
    asked = [str(ROOT / ".venv-313/bin" / PYTHON), "-c", code]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    program, library = map(Path, done.stdout.split())
    tar.add(program.resolve(), f"var/lang/bin/{PYTHON}")
    tar.add(library, f"var/lang/lib/{PYTHON}", filter=_kept)
    parts = [program.resolve(), *sorted(library.glob("lib-dynload/*.so"))]
    libraries = _linked(parts)
    libc = next(p for p in libraries if p.name.startswith("libc.so"))
    near = (
        Path(str(libc.parent).removeprefix("/usr")),
        Path("/usr") / str(libc.parent).lstrip("/"),
    )
    named = [folder / name for name in BY_NAME for folder in near]
    for path in dict.fromkeys((*libraries, *(p for p in named if p.exists()))):
        tar.add(path.resolve(), path.as_posix().lstrip("/"))


def _linked(programs: Iterable[Path | str]) -> list[Path]:
    """The shared libraries that programs link to, the loader included, each once."""
    found: dict[Path, None] = {}
    for program in programs:
        listed = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=False)
        for path in re.findall(r"(?:=> |^\s*)(/\S+)", listed.stdout, re.MULTILINE):
            found[Path(path)] = None
    return sorted(found)


def _kept(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    name = Path(entry.name)
    unwanted = name.name in SKIPPED and len(name.parts) <= 5
    return None if unwanted or name.suffix == ".pyc" else entry


def _folder(tar: tarfile.TarFile, name: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if name == "tmp" else 0o755
    tar.addfile(entry)


def _text(tar: tarfile.TarFile, name: str, text: str, mode: int = 0o644) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(text.encode()), mode | stat.S_IRUSR
    tar.addfile(entry, io.BytesIO(text.encode()))
