"""Write what the forty turns are today into `golden.json`."""

from __future__ import annotations

import json
from pathlib import Path

from .stories import STORIES, play

if __name__ == "__main__":
    told = {name: play(turns) for name, turns in STORIES.items()}
    text = json.dumps(told, ensure_ascii=False, indent=1) + "\n"
    Path(__file__).with_name("golden.json").write_text(text, "utf-8")
    print(f"{sum(map(len, told.values()))} turns written")
