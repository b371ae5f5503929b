"""The environment heals itself, and says what to do when it can't."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
import venv
from pathlib import Path

import pytest

from razviel.embedded import bootstrap
from razviel.embedded.bootstrap import Environment, Stop, check_python, main, pins

PROJECT = Path(__file__).resolve().parents[2]
HASH = "--hash=sha256:" + "0" * 64


class Installer:
    """Stands where uv and pip are called, and notes what it was asked to do."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.succeeds = True

    def __call__(self, command: list[str | Path]) -> bool:
        words = [str(part) for part in command]
        self.calls.append(words)
        if self.succeeds and "venv" in words:
            python = Path(words[-1]) / "bin" / "python"
            python.parent.mkdir(parents=True, exist_ok=True)
            python.write_text("#!/bin/sh\n")
            python.chmod(0o755)
        return self.succeeds

    def installed(self) -> list[str]:
        return [Path(words[-1]).stem for words in self.calls if "install" in words]


@pytest.fixture
def installer(monkeypatch: pytest.MonkeyPatch) -> Installer:
    fake = Installer()
    monkeypatch.setattr(bootstrap, "call", fake)
    monkeypatch.setattr(shutil, "which", lambda _name: "/opt/uv")
    monkeypatch.delenv("RAZVIEL_INSTALLER", raising=False)
    return fake


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "a path with spaces"
    (root / "requirements").mkdir(parents=True)
    write_lock(root, "dev", "django==5.2.19", "pytest==9.2.0")
    write_lock(root, "lint", "django==5.2.19", "pytest==9.2.0", "ruff==0.17.6")
    return root


def write_lock(root: Path, name: str, *entries: str) -> None:
    lines = [f"{entry} \\\n    {HASH}\n" for entry in entries]
    (root / "requirements" / f"{name}.txt").write_text("".join(lines))


def test_a_ready_environment_is_not_installed_again(project: Path, installer: Installer) -> None:
    Environment(project).ensure("dev")
    Environment(project).ensure("dev")
    assert installer.installed() == ["dev"]


def test_check_then_test_installs_once(project: Path, installer: Installer) -> None:
    Environment(project).ensure("lint")
    Environment(project).ensure("dev")
    assert installer.installed() == ["lint"]


def test_test_then_check_adds_to_what_is_there(project: Path, installer: Installer) -> None:
    Environment(project).ensure("dev")
    Environment(project).ensure("lint")
    Environment(project).ensure("dev")
    assert installer.installed() == ["dev", "lint"]
    assert sum("venv" in words for words in installer.calls) == 1


def test_an_interrupted_install_starts_afresh(project: Path, installer: Installer) -> None:
    Environment(project).ensure("dev")

    def interrupted(_command: list[str | Path]) -> bool:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bootstrap, "call", interrupted)
        with pytest.raises(KeyboardInterrupt):
            Environment(project).ensure("lint")
    installer.calls.clear()
    Environment(project).ensure("dev")
    assert installer.installed() == ["dev"]
    assert "--clear" in installer.calls[0]


def test_a_torn_stamp_counts_as_none(project: Path, installer: Installer) -> None:
    environment = Environment(project)
    environment.ensure("dev")
    environment.stamp.write_text('{"python": ')
    environment.ensure("dev")
    assert installer.installed() == ["dev", "dev"]


def test_another_python_makes_the_environment_anew(project: Path, installer: Installer) -> None:
    environment = Environment(project)
    environment.ensure("dev")
    stamp = json.loads(environment.stamp.read_text())
    environment.stamp.write_text(json.dumps({**stamp, "python": "3.10 /old"}))
    environment.ensure("dev")
    assert sum("--clear" in words for words in installer.calls) == 2


def test_a_lost_python_makes_the_environment_anew(project: Path, installer: Installer) -> None:
    environment = Environment(project)
    environment.ensure("dev").unlink()
    environment.ensure("dev")
    assert sum("--clear" in words for words in installer.calls) == 2


def test_a_changed_pin_is_installed_anew_so_that_none_stays_behind(
    project: Path, installer: Installer
) -> None:
    Environment(project).ensure("dev")
    write_lock(project, "dev", "django==5.2.20")
    write_lock(project, "lint", "django==5.2.20", "ruff==0.17.6")
    Environment(project).ensure("dev")
    assert installer.installed() == ["dev", "dev"]
    assert sum("--clear" in words for words in installer.calls) == 2


def test_when_uv_fails_pip_is_tried_and_its_failure_is_one_sentence(
    project: Path, installer: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    installer.succeeds = False
    monkeypatch.setattr(bootstrap, "foreign_pip", lambda: ["pip"])
    with pytest.raises(Stop, match="no network, connect or point pip at a mirror"):
        Environment(project).ensure("dev")
    assert [words[0] for words in installer.calls] == ["/opt/uv", "pip"]
    assert not Environment(project).stamp.exists()


@pytest.mark.parametrize("raised", [subprocess.CalledProcessError(1, "ensurepip"), SystemExit(1)])
def test_without_pip_and_ensurepip_the_apt_line_is_told(
    project: Path, installer: Installer, monkeypatch: pytest.MonkeyPatch, raised: BaseException
) -> None:
    def no_ensurepip(*_arguments: object, **_options: object) -> None:
        raise raised

    monkeypatch.setenv("RAZVIEL_INSTALLER", "pip")
    monkeypatch.setattr(bootstrap, "foreign_pip", lambda: None)
    monkeypatch.setattr(venv.EnvBuilder, "create", no_ensurepip)
    with pytest.raises(Stop, match="apt install python3-pip python3-venv"):
        Environment(project).ensure("dev")


def test_two_at_once_install_once(project: Path, installer: Installer) -> None:
    first_is_in, may_finish = threading.Event(), threading.Event()

    def slow(command: list[str | Path]) -> bool:
        first_is_in.set()
        assert may_finish.wait(30)
        return Installer.__call__(installer, command)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bootstrap, "call", slow)
        calls = [
            threading.Thread(target=Environment(project).ensure, args=["dev"]) for _ in range(2)
        ]
        calls[0].start()
        assert first_is_in.wait(30)
        calls[1].start()
        may_finish.set()
        for call in calls:
            call.join(30)
    assert installer.installed() == ["dev"]


@pytest.mark.parametrize("version", [(3, 9), (3, 10), (2, 7)])
def test_an_old_python_is_refused_with_one_sentence(version: tuple[int, int]) -> None:
    with pytest.raises(Stop, match=r"needs Python 3\.11 or newer and this is"):
        check_python(version)


def test_a_missing_lock_is_told(tmp_path: Path) -> None:
    with pytest.raises(Stop, match="git checkout"):
        pins(tmp_path / "dev.txt")


def test_an_unknown_verb_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fly"]) == 1
    assert "There is no verb 'fly'" in capsys.readouterr().err


def test_the_bootstrap_needs_nothing_but_the_standard_library() -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(PROJECT / "razviel/embedded/bootstrap.py"), "fly"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("There is no verb 'fly'; there are: demo, bench,")


def test_the_real_locks_nest_so_that_one_environment_serves_all_verbs() -> None:
    locks = PROJECT / "requirements"
    base, dev, lint, browser = (
        pins(locks / f"{name}.txt") for name in ("base", "dev", "lint", "browser")
    )
    assert base < dev
    assert dev < lint
    assert dev < browser


@pytest.mark.parametrize("name", ["base", "dev", "lint", "browser"])
def test_a_lock_names_no_index_and_hashes_every_package(name: str) -> None:
    text = (PROJECT / "requirements" / f"{name}.txt").read_text()
    assert "http" not in text
    assert "--index" not in text
    assert "--find-links" not in text
    entries = text.replace("\\\n", " ").splitlines()
    assert [line for line in entries if "--hash=sha256:" not in line] == []
