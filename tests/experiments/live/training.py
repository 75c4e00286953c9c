"""One rank of a small training, for tests/experiments/live/run: training.py SETTINGS.json. RANK and WORLD_SIZE are in the environment."""

import json
import os
import sys

import numpy
import torch
import torch.distributed as dist

import residuum


class Transformer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(13, 8)
        self.block = torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
        self.out = torch.nn.Linear(8, 3)

    def forward(self, x):
        return self.out(self.block(self.table((x[:, :5] * 3).long().abs() % 13)).mean(1))


class Unused(torch.nn.Module):
    """The middle layer has no part in every second step; one parameter is frozen."""

    def __init__(self):
        super().__init__()
        self.first, self.middle, self.last = torch.nn.Linear(6, 7), torch.nn.Linear(7, 7), torch.nn.Linear(7, 3)
        self.frozen = torch.nn.Parameter(torch.ones(3), requires_grad=False)
        self.calls = 0

    def forward(self, x):
        hidden = torch.tanh(self.first(x))
        hidden = self.middle(hidden) if int(x[0, 0] * 1000) % 2 == 0 else hidden
        return self.last(hidden) * self.frozen


def model_of(kind):
    torch.manual_seed(7)
    if kind == "mlp":
        return torch.nn.Sequential(torch.nn.Linear(6, 9), torch.nn.ReLU(), torch.nn.Linear(9, 3))
    if kind == "wide":  # whose means are exchanged in many blocks
        return torch.nn.Sequential(torch.nn.Linear(6, 2000), torch.nn.Linear(2000, 1200), torch.nn.ReLU(), torch.nn.Linear(1200, 3))
    return Transformer() if kind == "transformer" else Unused()


def batches(settings, rank):
    generator = torch.Generator().manual_seed(100 + rank)
    for _ in range(settings["steps"] * settings.get("accumulate", 1)):
        x = torch.rand(4, 6, generator=generator)
        yield x, (x.sum(1) * 3).long() % 3


def main():
    settings = json.load(open(sys.argv[1]))
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + settings["store"], rank=rank, world_size=size)
    model = model_of(settings["model"] if rank == 0 else settings.get("other_model", settings["model"]))
    plain = model_of(settings["model"])  # takes the same gradients without DDP
    if "other_model" in settings:
        residuum.attach(model, settings["study"], settings["out"])
    ddp = torch.nn.parallel.DistributedDataParallel(
        model, bucket_cap_mb=settings.get("bucket_mb", 25), find_unused_parameters=settings["model"] == "unused")
    optimizer = torch.optim.SGD(ddp.parameters(), lr=settings.get("lr", 0.1))
    start, done = 0, settings.get("checkpoint")
    if done and os.path.exists(done):
        saved = torch.load(done)
        start = saved["step"]
        model.load_state_dict(saved["model"])
    monitor = None
    if settings.get("attach", True):
        monitor = residuum.attach(ddp, settings["study"], settings["out"], optimizer=optimizer, apply=settings.get("apply", False), timeout_s=20)
        if start:
            monitor.load_state_dict(saved["monitor"] if rank == 0 else {})
    recorded, parts = [], settings.get("accumulate", 1)
    given = list(batches(settings, rank))
    for step in range(start, settings["steps"]):
        plain.load_state_dict(model.state_dict())
        plain.zero_grad()
        optimizer.zero_grad()
        for part in range(parts):
            x, y = given[step * parts + part]
            if settings.get("nan_at") == step and rank == 1:
                x = x * float("nan")
            torch.nn.functional.cross_entropy(plain(x), y).backward()
            if part + 1 < parts:
                with ddp.no_sync():
                    torch.nn.functional.cross_entropy(ddp(x), y).backward()
            else:
                torch.nn.functional.cross_entropy(ddp(x), y).backward()
        if settings.get("die_at") == step and rank == 1:
            os._exit(9)
        named = [value for value in plain.parameters() if value.requires_grad]
        recorded.append(torch.cat([torch.zeros(value.numel()) if value.grad is None else value.grad.reshape(-1) for value in named]))
        optimizer.step()
        if settings.get("save_at") == step + 1:
            state = monitor.state_dict()
            if rank == 0:
                torch.save({"step": step + 1, "model": model.state_dict(), "monitor": state}, settings["checkpoint"])
            dist.barrier()
        if settings.get("stop_at") == step + 1:
            os._exit(0)  # as if it were killed
    if monitor is not None:
        most = max((len(messages) for messages in monitor.messages.under_way.values()), default=0) if monitor.messages else 0
        assert most <= 64, f"{most} messages are kept"
        monitor.close()
        monitor.close()
    if rank == 0 and monitor is not None and monitor.stopped:
        print("stopped:", monitor.stopped)
    numpy.save(f"{settings['own']}-{rank}.npy", numpy.stack([row.numpy() for row in recorded]))
    weights = torch.cat([value.detach().reshape(-1) for value in model.parameters()])
    numpy.save(f"{settings['own']}-weights-{rank}.npy", weights.numpy())
    # Without it gloo's threads may outlive the interpreter, and the process is aborted after its work.
    dist.destroy_process_group()


main()
