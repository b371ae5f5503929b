"""The demo, played for real in its own processes on servers of its own."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from integrations.sandbox.client import ControlClient
from razviel.demo.scenes import SCENES

PROJECT = Path(__file__).resolve().parents[3]
ADDRESSES = ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL")
STORE = re.compile(r"(http://\S+)/shops/(lethe\S+\.com)")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


def demo(*arguments: str, **more: str) -> "subprocess.Popen[str]":
    environment = {name: value for name, value in os.environ.items() if name not in ADDRESSES}
    environment |= {
        "DJANGO_SETTINGS_MODULE": "razviel.settings",
        "RAZVIEL_ALLOW_PRIVATE_PLATFORMS": "1",
        **more,
    }
    return subprocess.Popen(
        [sys.executable, "-m", "razviel.embedded", "--fast", "manage.py", "demo", *arguments],
        cwd=PROJECT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_every_scene_is_as_expected_and_both_records_say_the_same(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    # A terminal or pipe that knows ASCII alone still gets every line.
    with demo("--report", str(report), PYTHONIOENCODING="ascii") as played:
        printed, errors = played.communicate()
    assert played.returncode == 0, printed + errors
    lines = printed.splitlines()
    assert "17 intents, 13 confirmed + 1 accepted = 14 effects, 0 doubled, 0 false, 0 lost" in lines
    assert max(len(line.rstrip()) for line in lines) <= 100
    told = json.loads(report.read_text())
    counted = {name: told[name] for name in ("intents", "confirmed", "accepted", "effects")}
    assert counted == {"intents": 17, "confirmed": 13, "accepted": 1, "effects": 14}
    assert (told["doubled"], told["false"], told["lost"]) == (0, 0, 0)
    assert told["seconds"] > 0
    assert told["scenes"] == [
        {"name": scene.name, "expected": scene.expected, "seen": scene.expected, "ok": True}
        for scene in SCENES
    ]


def test_a_refund_of_ours_that_we_know_nothing_of_fails_the_demo() -> None:
    with demo("--only", "keys forgotten") as played:
        family = psutil.Process(played.pid).children(recursive=True)
        sandbox, name = _store(played)
        # As our app, on an order that no ticket is about: the money is gone and nobody says so.
        shop = ControlClient(sandbox).shop(name)
        shop.refund_by_staff(shop.order().id, amount="9.99", app_id=shop.app_id)
        printed, errors = played.communicate()
    assert played.returncode == 1
    assert "1 intents, 1 confirmed != 2 effects, 0 doubled, 0 false, 1 lost" in printed
    assert "Our record and the stores' differ" in errors
    _, alive = psutil.wait_procs(family, timeout=60)
    assert alive == []


def _store(played: "subprocess.Popen[str]") -> tuple[str, str]:
    """Read on until the demo says where the second store is."""
    assert played.stdout is not None
    said = ""
    for line in played.stdout:
        said += line
        if found := STORE.search(said):
            return found.group(1), found.group(2).rstrip(".")
    raise AssertionError(said)
