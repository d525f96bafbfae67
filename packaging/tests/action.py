"""Runs the steps of action.yml as GitHub's runner does, with the commands that they run in the place of the runner's.

Usage: action.py PROGRAM PROJECT, where the program is a cargo-diglot and the project one without findings.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())


class Run:
    """One run of the action on a runner of its own."""

    def __init__(self, path, inputs):
        self.temp = pathlib.Path(tempfile.mkdtemp())
        defaults = {name: said["default"] for name, said in ACTION["inputs"].items()}
        self.known = {f"inputs.{name}": value for name, value in (defaults | inputs).items()}
        self.known |= {"runner.temp": str(self.temp), "runner.os": "Linux", "runner.arch": "X64"}
        self.environment = os.environ | {
            "PATH": path,
            "RUNNER_TEMP": str(self.temp),
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_OUTPUT": str(self.temp / "output"),
            "GITHUB_PATH": str(self.temp / "path"),
        }
        self.keys, self.steps, self.printed, self.code = [], [], "", 0

    def filled(self, text):
        """A text with what stands between the braces of an expression."""

        def value(found):
            name, _, said = found[1].partition(" == ")
            return str(self.known[name] == said.strip("'")).lower() if said else self.known[name]

        return re.sub(r"\$\{\{ (.*?) \}\}", value, text)

    def take(self, name):
        """What a step left in one of the runner's files."""
        file = self.temp / name
        lines = file.read_text().splitlines() if file.exists() else []
        file.unlink(missing_ok=True)
        return lines

    def all(self):
        """Every step, until one fails."""
        for step in ACTION["runs"]["steps"]:
            if self.filled(step.get("if", "true")) != "true":
                continue
            self.steps.append(step["name"])
            if "uses" in step:
                self.keys.append(self.filled(step["with"]["key"]))
                continue
            folder = self.filled(step.get("working-directory", "."))
            command = [step["shell"], "-e", "-o", "pipefail", "-c", self.filled(step["run"])]
            ended = subprocess.run(command, cwd=folder, env=self.environment, capture_output=True, text=True)
            self.printed += ended.stdout + ended.stderr
            self.code = ended.returncode
            for line in self.take("output"):
                name, _, value = line.partition("=")
                self.known[f"steps.{step['id']}.outputs.{name}"] = value
            for folder in self.take("path"):
                self.environment["PATH"] = f"{folder}:{self.environment['PATH']}"
            if self.code != 0:
                break
        shutil.rmtree(self.temp)
        return self


program, project = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
tools = pathlib.Path(tempfile.mkdtemp())
# No command line of this machine is found in the usual folders.
usual = os.pathsep.join(part for part in os.environ["PATH"].split(os.pathsep) if not shutil.which("cargo-diglot", path=part))

# A runner that has the command line builds none.
(tools / "found").mkdir()
(tools / "found/cargo-diglot").symlink_to(program)
found = f"{tools}/found:{usual}"
clean = Run(found, {"project": project}).all()
assert clean.code == 0, clean.printed
assert len(clean.steps) == len(ACTION["runs"]["steps"]), clean.steps
assert re.fullmatch(r"diglot-Linux-X64-[0-9a-f]{16}", clean.keys[0]), clean.keys

# One that has none builds it from the sources of the action, and finds it from there on.
(tools / "built").mkdir()
cargo = tools / "built/cargo"
cargo.write_text(
    f"""#!/usr/bin/env bash
[ "$1 $2 $3 $5 $6" = "install --locked --root --path {ROOT}/crates/cargo-diglot" ] || {{ echo "cargo $*"; exit 101; }}
mkdir -p "$4/bin" && ln -s {program} "$4/bin/cargo-diglot"
"""
)
cargo.chmod(0o755)
built = Run(f"{tools}/built:{usual}", {"project": project, "prepare": "false"}).all()
assert built.code == 0, built.printed
assert built.steps == clean.steps[:-1], built.steps

# Drift stands at its line.
page = pathlib.Path(project) / "sql/pg/note.sql"
text = page.read_text()
page.write_text(text.replace("due_ms <= :now_ms", "due_ms < :now_ms"))
drift = Run(found, {"project": project}).all()
page.write_text(text)
assert drift.code == 2 and drift.steps == clean.steps[:-1], (drift.steps, drift.printed)
assert re.search(r"^::error file=.*note\.sql,line=4,", drift.printed, re.M), drift.printed
shutil.rmtree(tools)
