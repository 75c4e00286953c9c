"""Trains a small network on two processes, with its gradients recorded into the folder that is named, and compares
the files with the gradients that each process takes by itself. A layer is frozen, and one gets no gradient.

usage: recorded_training.py FOLDER TOOLS [KEY=VALUE...], the keys of record_gradients
"""

import os
import sys

import numpy
import torch
import torch.distributed as dist
import torch.multiprocessing
from torch.nn.parallel import DistributedDataParallel

STEPS, WORKERS = 4, 2


def network():
    layers = torch.nn.ModuleDict({"first": torch.nn.Linear(5, 3), "frozen": torch.nn.Linear(3, 3),
                                  "last": torch.nn.Linear(3, 2), "idle": torch.nn.Linear(2, 2)})
    layers["frozen"].requires_grad_(False)

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = layers

        def forward(self, x):
            return self.layers["last"](self.layers["frozen"](self.layers["first"](x).tanh()))

    return Network()


def train(rank, folder, store, tools, keys):
    sys.path.insert(0, tools)
    from record_gradients import record_gradients

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=WORKERS)
    torch.manual_seed(1)
    model = network()
    # Buckets of 20 numbers: the layers arrive apart.
    ddp = DistributedDataParallel(model, bucket_cap_mb=20 * 4 / 2**20, find_unused_parameters=True)
    steps, start, every = keys.get("steps", STEPS), keys.get("start", 0), keys.get("every", 1)
    record_gradients(ddp, folder, **{"steps": steps, **keys})
    alone = network()
    expected = []
    for step in range(STEPS):
        x = torch.randn(7, 5, generator=torch.Generator().manual_seed(10 * step + rank))
        alone.load_state_dict(model.state_dict())
        for one in (alone, ddp):
            one.zero_grad()
            one(x).square().mean().backward()
        trained = [p for p in alone.parameters() if p.requires_grad]
        expected.append(torch.cat([(p.grad if p.grad is not None else torch.zeros_like(p)).flatten() for p in trained]))
        with torch.no_grad():
            for p in model.parameters():
                p -= 0.1 * p.grad if p.grad is not None else 0
    dist.barrier()
    due = list(range(start, STEPS, every))[:steps]
    files = sorted(name for name in os.listdir(folder) if name.endswith(".npy"))
    assert files == [f"{i:08}.npy" for i in range(len(due))], files
    for file, step in zip(files, due):
        array = numpy.load(os.path.join(folder, file))
        assert array.shape == (WORKERS, 5 * 3 + 3 + 3 * 2 + 2 + 2 * 2 + 2), array.shape
        assert array.dtype == keys.get("dtype", "float32"), array.dtype
        own = expected[step].numpy().astype(array.dtype)
        assert numpy.array_equal(array[rank], own), "not the worker's gradients"
        assert not array[rank][-6:].any(), "the idle layer has zeros"
    try:
        record_gradients(ddp, folder, 1)
    except FileExistsError as error:
        assert "has recorded steps" in str(error)
    else:
        raise AssertionError("a folder is recorded into twice")
    # Without it gloo's threads may outlive the interpreter, and the process is aborted after its work.
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    folder, tools = os.path.abspath(sys.argv[1]), sys.argv[2]
    keys = dict(word.split("=") for word in sys.argv[3:])
    keys = {key: value if key == "dtype" else int(value) for key, value in keys.items()}
    torch.multiprocessing.spawn(train, (folder, folder + ".store", tools, keys), nprocs=WORKERS)
