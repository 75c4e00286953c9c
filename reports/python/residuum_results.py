"""Reads what `residuum run` and `residuum report` have left in a folder into pandas frames.

    import residuum_results

    results = residuum_results.load("results/mine")
    print(results.runs.groupby("p_protocol_kind")["final_loss_gap"].median())
    print(results.verdicts.query("verdict == 'fails'")[["method", "name", "remark"]])
    results.table("iterations").pivot_table("delta", "iteration", "p_sparsifier_density").plot()

A column `p_SECTION_KEY` stands for each key of the study that varies. It has the value that a run used, also
where that is the default. It is missing (NaN) only where a run has no such key; group by "method", or by p_* with dropna=False. All other columns and their
units are in datapackage.json of the folder and in experiments/reference/columns.md.
"""

from __future__ import annotations

import functools
import json
import pathlib
import re
from typing import Any

import pandas

SCHEMA = 6  # of study.resolved.json; folders of another one are read by the release that wrote them


class Results:
    """The results of one study. Frames are read when they are first asked for, and kept."""

    def __init__(self, folder: str | pathlib.Path) -> None:
        self.folder = pathlib.Path(folder)
        study = self._json("study.resolved.json")
        if study.get("schema") != SCHEMA:
            raise ValueError(f"{self.folder} has schema {study.get('schema')}; this module reads {SCHEMA}")
        self.study: dict[str, Any] = study
        self.summary: dict[str, Any] = self._json("summary.json")

    @functools.cached_property
    def runs(self) -> pandas.DataFrame:
        """A row for each run: run_id, status, seed, p_*, what it ended with, and `method`, the label of its group."""
        frame = self._csv("runs")
        labels = {run: group["label"] for group in self.summary["groups"] for run in group["runs"]}
        frame.insert(1, "method", frame["run_id"].map(labels))
        return frame

    @property
    def swept(self) -> list[str]:
        """The columns p_* of the keys that vary."""
        return [name for name in self.runs.columns if name.startswith("p_")]

    def table(self, name: str) -> pandas.DataFrame:
        """Reads NAME.csv of all runs ("iterations", "checks", "workers", ...). Rows that belong to a run also have
        its method, seed and p_*. An empty field, which was not measured, is NaN."""
        frame = self._csv(name)
        if "run_id" not in frame.columns:
            return frame
        of_run = ["run_id"] + [c for c in ["method", "seed", *self.swept] if c not in frame.columns]
        return frame.merge(self.runs[of_run], on="run_id", how="left", validate="many_to_one")

    @functools.cached_property
    def verdicts(self) -> pandas.DataFrame:
        """A row for each method and each assumption or theorem.

        kind: "assumption" or "theorem". verdict: holds, marginal, fails, undecided, ... of an assumption on
        average. every: its verdict over every iteration. value: what was estimated; the statement in `summary` says
        of what. lhs, rhs, slack: sides of a theorem's inequality and rhs/lhs. remark: why it is undecided.
        """
        rows: list[dict[str, Any]] = []
        for group in self.summary["groups"]:
            of_method = {"method": group["label"], "seeds": group["seeds"]}
            of_method |= self._parameters(group)
            asked = {name: found for name, found in group["assumptions"].items() if "verdict" in found}
            for name, verdict in asked.items():  # the others are counts
                every, remark = verdict.get("every") or {}, verdict.get("remark")
                rows.append(of_method | {"kind": "assumption", "name": name, "verdict": verdict["verdict"],
                                         "every": every.get("verdict"), "value": verdict.get("value"),
                                         "remark": remark or every.get("remark") or None})
            for theorem in group["theorems"]:
                numbers = {side: theorem.get(side) for side in ("lhs", "rhs", "slack")}
                rows.append(of_method | {"kind": "theorem", "name": theorem["name"], "verdict": theorem["verdict"],
                                         "remark": theorem.get("reason")} | numbers)
        return pandas.DataFrame(rows)

    def _parameters(self, group: dict[str, Any]) -> dict[str, Any]:
        """The values of swept keys that the runs of a method used."""
        runs = self.runs[self.runs["run_id"].isin(group["runs"])]
        return {name: runs[name].iloc[0] if len(runs) else None for name in self.swept}

    def _csv(self, name: str) -> pandas.DataFrame:
        if not re.fullmatch(r"[a-z-]+", name):
            raise ValueError(f"'{name}' is no name of a table")
        file = self.folder / f"{name}.csv"
        if not file.is_file():
            there = ", ".join(sorted(f.stem for f in self.folder.glob("*.csv")))
            raise FileNotFoundError(f"{file} is not there; tables: {there or 'none, try residuum report'}")
        return pandas.read_csv(file, float_precision="round_trip", low_memory=False)

    def _json(self, name: str) -> dict[str, Any]:
        file = self.folder / name
        if not file.is_file():
            raise FileNotFoundError(f"{file} is not there: `residuum report {self.folder}` writes it where runs have ended")
        return json.loads(file.read_text(encoding="utf-8"))


def load(folder: str | pathlib.Path) -> Results:
    """Reads the results in FOLDER, as `residuum run --out FOLDER` and `residuum report` leave them. Raises
    FileNotFoundError where it has none, and ValueError where they have another schema."""
    return Results(folder)
