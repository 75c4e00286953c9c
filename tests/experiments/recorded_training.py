"""Trains a small network on two processes, with its gradients recorded to the file that is named,
and compares the file with the gradients that each process takes by itself.

usage: recorded_training.py FILE RECORDED TOOLS, with so many steps as room in the file
"""

import os
import sys

import numpy
import torch
import torch.distributed as dist
import torch.multiprocessing
from torch.nn.parallel import DistributedDataParallel

STEPS, WORKERS = 4, 2


def train(rank, path, store, room, tools):
    sys.path.insert(0, tools)
    from record_gradients import record_gradients

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=WORKERS)
    torch.manual_seed(1)
    network = torch.nn.Sequential(torch.nn.Linear(5, 3), torch.nn.Tanh(), torch.nn.Linear(3, 2))
    # Buckets of 20 numbers: the second layer and the first arrive apart.
    ddp = DistributedDataParallel(network, bucket_cap_mb=20 * 4 / 2**20)
    record_gradients(ddp, path, room)
    alone = torch.nn.Sequential(torch.nn.Linear(5, 3), torch.nn.Tanh(), torch.nn.Linear(3, 2))
    expected = []
    for step in range(STEPS):
        x = torch.randn(7, 5, generator=torch.Generator().manual_seed(10 * step + rank))
        alone.load_state_dict(network.state_dict())
        for model in (alone, ddp):
            model.zero_grad()
            model(x).square().mean().backward()
        expected.append(torch.cat([p.grad.flatten() for p in alone.parameters()]).numpy())
        with torch.no_grad():
            for p in network.parameters():
                p -= 0.1 * p.grad
    dist.barrier()
    recorded = numpy.load(path, mmap_mode="r")
    assert recorded.shape == (room, WORKERS, 5 * 3 + 3 + 3 * 2 + 2), recorded.shape
    own, expected = recorded[:STEPS, rank], numpy.stack(expected)[:room]
    assert numpy.array_equal(own, expected), "not the worker's gradients"
    assert numpy.isnan(recorded[STEPS:]).all(), "numbers of steps that were not trained"


if __name__ == "__main__":
    path, room, tools = os.path.abspath(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    arguments = (path, path + ".store", room, tools)
    torch.multiprocessing.spawn(train, arguments, nprocs=WORKERS)
