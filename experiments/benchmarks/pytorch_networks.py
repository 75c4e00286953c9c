"""Whole trainings of networks against plain PyTorch: pytorch_networks.py PROGRAM [--networks lenet,lstm] [--rounds N] [--json].

PROGRAM is residuum. Both train the same networks on batches of the same size, in turn, with one thread to a process: dense in one process, and on
two processes what a user would write in PyTorch: DistributedDataParallel (gloo) with a communication hook that adds the residual, takes
torch.topk of the magnitudes, and gathers the pairs of all ranks. A further line sets gTop-k of density 0.001 against dense, both ours. A step's
time is the difference of a longer training and a shorter one over the steps between, so that starts and ends do not count. Prints a Markdown
table, or the entries that `residuum bench --json` prints; values are medians over the rounds.
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

DENSITY = 0.001
BATCH = 32
SHORT = 5  # steps of the shorter training
VOCABULARY, CONTEXT = 16, 64

# The steps of the longer training, beyond the short one's, and our objective.
IMAGES = 'data = "synthetic-images"\nrows = 500\n'
TEXT = f"characters = 20000\nsequence = {CONTEXT}\n"
NETWORKS = {
    "lenet": (200, 'kind = "lenet"\n' + IMAGES),
    "resnet20": (12, 'kind = "resnet20"\n' + IMAGES),
    "lstm": (30, 'kind = "lstm"\nlevel = "character"\n' + TEXT),
    "gpt": (30, 'kind = "gpt"\n' + TEXT),
}

STUDY = """schema = 1
name = "networks"
[objective]
{objective}evaluate_samples = 1
test_samples = 1
device = "cpu"
[workers]
count = {workers}
batch = {batch}
{method}[step]
value = 0.01
[budget]
iterations = {steps}
[probes]
names = []
"""
DENSE = '[sparsifier]\nkind = "none"\n[aggregator]\nkind = "dense"\n'
SPARSE = '[sparsifier]\nkind = "top-k"\ndensity = {density}\n[aggregator]\nkind = "{aggregator}"\n'


def our_seconds(program: str, network: str, method: str, workers: int) -> float:
    """Returns the seconds of a step of our training, each worker in a process of its own."""
    steps, objective = NETWORKS[network]
    seconds = []
    for count in (SHORT, SHORT + steps):
        with tempfile.TemporaryDirectory() as folder:
            study = pathlib.Path(folder, "study.toml")
            study.write_text(STUDY.format(objective=objective, workers=workers, batch=BATCH, method=method, steps=count), encoding="utf-8")
            words = ["mpirun", "-n", str(workers)] if workers > 1 else []
            subprocess.run([*words, program, "run", str(study), "--out", f"{folder}/out", "--progress", "none"], check=True, capture_output=True)
            status = next(pathlib.Path(folder, "out", "runs").glob("*/status.json"))
            seconds.append(json.loads(status.read_text(encoding="utf-8"))["wall_s"])
    return (seconds[1] - seconds[0]) / steps


def pytorch_seconds(network: str, ranks: int) -> float:
    """Returns the seconds of a step of the training in PyTorch, with the hook on several ranks."""
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, __file__, "--rank-of", network, "--store", f"{folder}/store"]
        environment = {**os.environ, "WORLD_SIZE": str(ranks), "OMP_NUM_THREADS": "1"}
        started = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env={**environment, "RANK": str(rank)}) for rank in range(ranks)]
        try:
            printed = [rank.communicate(timeout=600)[0] for rank in started]
        except subprocess.TimeoutExpired:
            for rank in started:
                rank.kill()
            raise SystemExit("a rank of PyTorch does not end") from None
    if any(rank.returncode for rank in started):
        raise SystemExit("a rank of PyTorch failed")
    return float(printed[0])


# --- What a user would write in PyTorch --------------------------------------------------------------------------------------------------------


def network_named(name: str):
    from torch import nn
    from torch.nn import functional

    class Block(nn.Module):
        def __init__(self, inputs, outputs):
            super().__init__()
            self.stride, self.added = (2 if outputs != inputs else 1), outputs - inputs
            self.conv1 = nn.Conv2d(inputs, outputs, 3, self.stride, padding=1, bias=False)
            self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
            self.bn1, self.bn2 = nn.BatchNorm2d(outputs), nn.BatchNorm2d(outputs)

        def forward(self, x):
            inner = self.bn2(self.conv2(functional.relu(self.bn1(self.conv1(x)))))
            if self.added:
                x = functional.pad(x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, 0, self.added))
            return functional.relu(inner + x)

    class Lstm(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.lstm = nn.Embedding(VOCABULARY, 64), nn.LSTM(64, 128, 2, batch_first=True)
            self.decoder = nn.Linear(128, VOCABULARY)

        def forward(self, tokens):
            return self.decoder(self.lstm(self.embedding(tokens))[0])

    class Layer(nn.Module):
        def __init__(self, width=128, heads=4):
            super().__init__()
            self.heads, self.ln_1, self.ln_2 = heads, nn.LayerNorm(width), nn.LayerNorm(width)
            self.c_attn, self.proj = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
            self.c_fc, self.c_proj = nn.Linear(width, 4 * width, bias=False), nn.Linear(4 * width, width, bias=False)

        def forward(self, x):
            q, k, v = (part.view(*x.shape[:2], self.heads, -1).transpose(1, 2) for part in self.c_attn(self.ln_1(x)).chunk(3, dim=2))
            scores = (q @ k.transpose(-2, -1)) / q.shape[-1] ** 0.5
            mask = scores.new_ones(x.shape[1], x.shape[1]).tril() == 0
            weights = scores.masked_fill(mask, float("-inf")).softmax(dim=-1)
            x = x + self.proj((weights @ v).transpose(1, 2).reshape(x.shape))
            return x + self.c_proj(functional.gelu(self.c_fc(self.ln_2(x))))

    class Gpt(nn.Module):
        def __init__(self, width=128):
            super().__init__()
            self.wte, self.wpe = nn.Embedding(VOCABULARY, width), nn.Embedding(CONTEXT, width)
            self.layers, self.ln_f = nn.Sequential(*(Layer(width) for _ in range(4))), nn.LayerNorm(width)

        def forward(self, tokens):
            return functional.linear(self.ln_f(self.layers(self.wte(tokens) + self.wpe.weight)), self.wte.weight)

    if name == "lenet":
        return nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
                             nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))
    if name == "resnet20":
        maps = [(16, 16)] * 3 + [(16, 32)] + [(32, 32)] * 2 + [(32, 64)] + [(64, 64)] * 2
        return nn.Sequential(nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), *(Block(*of) for of in maps),
                             nn.AvgPool2d(8), nn.Flatten(), nn.Linear(64, 10))
    return Lstm() if name == "lstm" else Gpt()


def top_k_hook(state: dict, bucket):
    """The update is the mean of the ranks' largest entries; what a rank has not sent is its residual."""
    import torch
    import torch.distributed as dist

    gradient = bucket.buffer()
    residual = state.get(bucket.index())
    fits = residual is not None and residual.numel() == gradient.numel()  # buckets are made anew after the first step
    accumulator = gradient + residual if fits else gradient.clone()
    k = max(1, round(DENSITY * gradient.numel()))
    indices = accumulator.abs().topk(k, sorted=False).indices
    values = accumulator[indices]
    accumulator[indices] = 0
    state[bucket.index()] = accumulator
    ranks = dist.get_world_size()
    all_values = [torch.empty_like(values) for _ in range(ranks)]
    all_indices = [torch.empty_like(indices) for _ in range(ranks)]
    dist.all_gather(all_values, values)
    dist.all_gather(all_indices, indices)
    update = gradient.zero_().index_add_(0, torch.cat(all_indices), torch.cat(all_values) / ranks)
    done = torch.futures.Future()
    done.set_result(update)
    return done


def rank_main(name: str, store: str) -> None:
    import torch
    import torch.distributed as dist
    from torch.nn import functional

    torch.set_num_threads(1)
    torch.manual_seed(1)
    size = int(os.environ["WORLD_SIZE"])
    model = network_named(name)
    if size > 1:
        dist.init_process_group("gloo", init_method="file://" + store, rank=int(os.environ["RANK"]), world_size=size)
        model = torch.nn.parallel.DistributedDataParallel(model, bucket_cap_mb=1000)
        model.register_comm_hook({}, top_k_hook)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01)
    is_text = name in ("lstm", "gpt")
    text = torch.randint(VOCABULARY, (20000,))
    images = torch.randn(500, *((3, 32, 32) if name == "resnet20" else (1, 28, 28)))
    classes = torch.randint(10, (500,))

    def step() -> None:
        if is_text:
            starts = torch.randint(len(text) - CONTEXT, (BATCH,))
            x = torch.stack([text[s : s + CONTEXT] for s in starts])
            labels = torch.stack([text[s + 1 : s + 1 + CONTEXT] for s in starts]).flatten()
        else:
            chosen = torch.randint(500, (BATCH,))
            x, labels = images[chosen], classes[chosen]
        optimiser.zero_grad(set_to_none=True)
        functional.cross_entropy(model(x).flatten(0, -2), labels).backward()
        optimiser.step()

    for _ in range(SHORT):
        step()
    begin = time.perf_counter()
    for _ in range(NETWORKS[name][0]):
        step()
    print((time.perf_counter() - begin) / NETWORKS[name][0], flush=True)
    if size > 1:
        dist.barrier()
        os._exit(0)  # the threads of a DDP training with a hook may wait for each other for good when Python ends


# -----------------------------------------------------------------------------------------------------------------------------------------------


def entry(name: str, values: list[float], baselines: list[float], faster: bool, target: float | None) -> dict:
    value, baseline = statistics.median(values) * 1e3, statistics.median(baselines) * 1e3
    ratio = baseline / value if faster else value / baseline
    quarters = statistics.quantiles(values, n=4)
    met = None if target is None else (ratio >= target if faster else ratio <= target)
    return {"id": "", "name": name, "value": value, "unit": "ms", "baseline": baseline, "ratio": ratio, "target": target, "met": met,
            "spread": (quarters[2] - quarters[0]) * 1e3 / value, "n": len(values)}


def entries(arguments: argparse.Namespace) -> list[dict]:
    import torch

    found = []
    for network in arguments.networks.split(","):
        times: dict[str, list[float]] = {}
        for _ in range(arguments.rounds):
            for name, seconds in {
                "ours": lambda: our_seconds(arguments.program, network, DENSE, 1),
                "theirs": lambda: pytorch_seconds(network, 1),
                "sparse": lambda: our_seconds(arguments.program, network, SPARSE.format(density=DENSITY, aggregator="gtopk-tree"), 1),
                "ours of two": lambda: our_seconds(arguments.program, network, SPARSE.format(density=DENSITY, aggregator="allgather"), 2),
                "theirs of two": lambda: pytorch_seconds(network, 2),
            }.items():
                times.setdefault(name, []).append(seconds())
        pytorch = f"PyTorch {torch.__version__}"
        step = f"a step of {network}, batch {BATCH}"
        found.append(entry(f"{step}, dense, one process, faster than {pytorch}", times["ours"], times["theirs"], True, 1.0))
        found.append(entry(f"{step}, gTop-k of density {DENSITY}, one process, against dense", times["sparse"], times["ours"], False, 1.05))
        found.append(entry(f"{step}, Top-k of density {DENSITY}, residuals, all-gather, 2 processes, faster than a hook in {pytorch}",
                           times["ours of two"], times["theirs of two"], True, None))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?")
    parser.add_argument("--networks", default=",".join(NETWORKS), help="some of " + ", ".join(NETWORKS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rank-of", help=argparse.SUPPRESS)
    parser.add_argument("--store", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.rank_of:
        rank_main(arguments.rank_of, arguments.store)
        return
    unknown = set(arguments.networks.split(",")) - set(NETWORKS)
    if unknown or not arguments.program or arguments.rounds < 2:
        parser.error("give the program, at least 2 rounds, and networks of " + ", ".join(NETWORKS))
    found = entries(arguments)
    if arguments.json:
        print(json.dumps(found, indent=2))
        return
    print("| what | value | baseline | ratio | target | spread |")
    print("| ---- | ----: | -------: | ----: | -----: | -----: |")
    for one in found:
        print(f"| {one['name']} | {one['value']:.3g} ms | {one['baseline']:.3g} | {one['ratio']:.3g} | {one['target'] or ''} | {one['spread']:.2f} |")


main()
