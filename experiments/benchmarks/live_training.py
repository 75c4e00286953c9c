"""What a study costs the training that it is attached to: live_training.py [--parameters N] [--steps N] [--ranks 2,4] [--batch N] [--json].

Times a step of a DDP training (gloo, one thread to a rank) without a study and with one in shadow mode, of one gTop-k method of density 0.001,
that measures every step or every tenth. A step's time is the training's over its steps, with what the study does after the last; two steps before
them, in which a study makes its memories, are not timed. Prints a Markdown table, or the entries that `residuum bench --json` prints. PYTHONPATH
and RESIDUUM_LIBRARY say where residuum.py and its library are.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

STUDY = """schema = 1
name = "cost"
[sparsifier]
kind = "top-k"
density = 0.001
[aggregator]
kind = "gtopk-tree"
[probes]
names = ["delta", "residual", "traffic"]
every = {every}
"""


WARM_UP = 2  # steps
PLAIN_STEP_S = 0.9


def rank_main(arguments: argparse.Namespace) -> None:
    import torch
    import torch.distributed as dist

    import residuum

    torch.set_num_threads(1)
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    dist.init_process_group("gloo", init_method="file://" + arguments.store, rank=rank, world_size=size)
    width = max(1, round((arguments.parameters / 4) ** 0.5))
    torch.manual_seed(1)
    model = torch.nn.Sequential(*[torch.nn.Linear(width, width) for _ in range(4)])
    ddp = torch.nn.parallel.DistributedDataParallel(model)
    monitor = None
    if arguments.every:
        study = pathlib.Path(arguments.store + ".toml")
        if rank == 0:
            study.write_text(STUDY.format(every=arguments.every))
        dist.barrier()
        monitor = residuum.attach(ddp, study, arguments.store + ".results")
    x = torch.randn(arguments.batch, width)
    times = []
    dist.barrier()
    for _ in range(WARM_UP + arguments.steps):
        begin = time.perf_counter()
        ddp.zero_grad()
        ddp(x).square().mean().backward()
        times.append(time.perf_counter() - begin)
    begin = time.perf_counter()
    if monitor is not None:
        monitor.close()
    after = time.perf_counter() - begin
    if rank == 0:
        lines = dict(line.split(":") for line in open("/proc/self/status") if line.startswith("Vm"))
        memory = int(lines["VmHWM"].split()[0]) * 1024
        print(json.dumps({"parameters": sum(value.numel() for value in model.parameters()), "steps": times[WARM_UP:], "after": after, "memory": memory}))
    dist.destroy_process_group()


def measure(arguments: argparse.Namespace, size: int, every: int, folder: str) -> dict:
    store = f"{folder}/store-{size}-{every}"
    words = [sys.executable, __file__, "--store", store, "--every", str(every), "--parameters", str(arguments.parameters), "--steps",
             str(arguments.steps), "--batch", str(arguments.batch)]
    ranks = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env={**os.environ, "RANK": str(rank), "WORLD_SIZE": str(size), "OMP_NUM_THREADS": "1"})
             for rank in range(size)]
    printed = [rank.communicate()[0] for rank in ranks]
    if any(rank.returncode for rank in ranks):
        raise SystemExit("a rank failed")
    return json.loads(printed[0])


def entry(name: str, value: float, unit: str, baseline: float | None, target: float, one: dict) -> dict:
    ratio = value if baseline is None else value / baseline
    quarters = statistics.quantiles(one["steps"], n=4)
    return {"id": "", "name": name, "value": value, "unit": unit, "baseline": baseline, "ratio": ratio, "target": target, "met": ratio <= target,
            "spread": (quarters[2] - quarters[0]) / statistics.median(one["steps"]), "n": len(one["steps"])}


def batch_of(arguments: argparse.Namespace, size: int, folder: str) -> int:
    """Returns the batch whose step takes nearly a second: its time is taken at two batches, and is a line in the batch."""
    seconds = []
    for arguments.batch in (64, 256):
        seconds.append(statistics.median(measure(arguments, size, 0, folder)["steps"]))
    of_sample = (seconds[1] - seconds[0]) / (256 - 64)
    return max(1, round(64 + (PLAIN_STEP_S - seconds[0]) / of_sample)) if of_sample > 0 else 256


def entries(arguments: argparse.Namespace, folder: str) -> list[dict]:
    found, given = [], arguments.batch
    for size in map(int, arguments.ranks.split(",")):
        arguments.batch = given or batch_of(arguments, size, folder)
        plain = measure(arguments, size, 0, folder)
        step = sum(plain["steps"]) / arguments.steps * 1e3
        for every, words, target in ((10, "every 10th step", 1.10), (1, "every step", 1.25)):
            one = measure(arguments, size, every, folder)
            of = f"P = {size}, d = {one['parameters']}, batch {arguments.batch}, {words} measured"
            whole = (sum(one["steps"]) + one["after"]) / arguments.steps * 1e3
            found.append(entry(f"a step of a DDP training with a study attached, {of}", whole, "ms", step, target, one))
            floats = (one["memory"] - plain["memory"]) / 4 / one["parameters"]
            found.append(entry(f"memory of the study on rank 0, {of}", floats, "d floats", None, 3, one))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parameters", type=int, default=25_000_000)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--batch", type=int, default=0, help="samples of a rank in a step; if not given, those that make a step of 0.9 s")
    parser.add_argument("--ranks", default="2,4")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--store", help=argparse.SUPPRESS)
    parser.add_argument("--every", type=int, default=0, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.store:
        rank_main(arguments)
        return
    with tempfile.TemporaryDirectory() as folder:
        found = entries(arguments, folder)
    if arguments.json:
        print(json.dumps(found, indent=2))
        return
    print("| what | value | without a study | ratio | at most | spread |")
    print("| ---- | ----: | --------------: | ----: | ------: | -----: |")
    for one in found:
        without = "" if one["baseline"] is None else f"{one['baseline']:.0f}"
        print(f"| {one['name']} | {one['value']:.3g} {one['unit']} | {without} | {one['ratio']:.3g} | {one['target']} | {one['spread']:.2f} |")


main()
