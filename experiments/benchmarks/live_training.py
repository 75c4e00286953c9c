"""What a study costs the training that it is attached to: live_training.py [--parameters N] [--steps N] [--ranks 2,4].

Times a step of a DDP training (gloo, one thread to a rank) without a study and with one in shadow mode that measures every step, every tenth,
and none. All trainings of a number of ranks take their steps in turn, in one process each. Prints a Markdown table: medians over the
steps, and the ratio to the training without. PYTHONPATH and RESIDUUM_LIBRARY say where residuum.py and its library are.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

STUDY = """
[sparsifier]
kind = "top-k"
density = 0.001
[aggregator]
kind = "gtopk-tree"
[probes]
names = ["delta", "residual", "traffic"]
every = {every}
"""


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
    for _ in range(arguments.steps):
        dist.barrier()
        begin = time.perf_counter()
        ddp.zero_grad()
        ddp(x).square().mean().backward()
        times.append(time.perf_counter() - begin)
    begin = time.perf_counter()
    if monitor is not None:
        monitor.close()
    whole = sum(times) + time.perf_counter() - begin
    if rank == 0:
        memory = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
        print(sum(value.numel() for value in model.parameters()), statistics.median(times), whole / len(times), int(memory) * 1024)


def measure(arguments: argparse.Namespace, size: int, every: int, folder: str) -> list[float]:
    store = f"{folder}/store-{size}-{every}-{time.monotonic_ns()}"
    words = [sys.executable, __file__, "--store", store, "--every", str(every), "--parameters", str(arguments.parameters), "--steps",
             str(arguments.steps), "--batch", str(arguments.batch)]
    ranks = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env={**os.environ, "RANK": str(rank), "WORLD_SIZE": str(size), "OMP_NUM_THREADS": "1"})
             for rank in range(size)]
    printed = [rank.communicate()[0] for rank in ranks]
    if any(rank.returncode for rank in ranks):
        raise SystemExit("a rank failed")
    return [float(word) for word in printed[0].split()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parameters", type=int, default=25_000_000)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--ranks", default="2,4")
    parser.add_argument("--store", help=argparse.SUPPRESS)
    parser.add_argument("--every", type=int, default=0, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.store:
        rank_main(arguments)
        return
    print("| ranks | parameters | study | step, median | step with what comes after | ratio | memory, rank 0 |")
    print("| ----: | ---------: | ----- | -----------: | ------------------------: | ----: | -------------: |")
    with tempfile.TemporaryDirectory() as folder:
        for size in map(int, arguments.ranks.split(",")):
            plain = None
            for every, name in ((0, "none"), (1, "every step"), (10, "every 10th step")):
                parameters, median, whole, memory = measure(arguments, size, every, folder)
                plain = plain or whole
                print(f"| {size} | {parameters:.0f} | {name} | {median * 1e3:.0f} ms | {whole * 1e3:.0f} ms | {whole / plain:.2f} | "
                      f"{memory / 4 / parameters:.1f} d floats |", flush=True)


main()
