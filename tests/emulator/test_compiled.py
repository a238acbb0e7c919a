"""What imports work out is in the built layer, for the Python that runs it."""

import subprocess
from pathlib import Path

from local.emulator import Built

ASKED = """
import dataclasses, re
import webbee_kernel
print(dataclasses.exec.__module__, re._compiler.compile.__module__)
"""


def test_the_built_kernel_uses_the_table_of_its_layer(built: Built) -> None:
    env = {"PYTHONPATH": str(built.opt / "python")}
    done = subprocess.run(
        [str(Path(built.python)), "-c", ASKED], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["webbee_kernel.base.compiled"] * 2
