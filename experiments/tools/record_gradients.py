"""Records the gradients of a DistributedDataParallel model for `kind = "recorded"`: PyTorch's
communication hook writes what each worker would send, before it is averaged, to (T, P, d)."""

import torch.distributed as dist
from numpy.lib.format import open_memmap
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook


def record_gradients(ddp, path, steps):
    start, d, step = {}, 0, 0
    for p in ddp.module.parameters():
        start[p.data_ptr()], d = d, d + p.numel()
    if dist.get_rank() == 0:
        open_memmap(path, "w+", "float32", (steps, dist.get_world_size(), d))[:] = float("nan")
    dist.barrier()
    own = open_memmap(path, "r+")[:, dist.get_rank()]

    def hook(_, bucket):
        nonlocal step
        if step < steps:
            for p, g in zip(bucket.parameters(), bucket.gradients()):
                own[step, start[p.data_ptr()]:][:g.numel()] = g.flatten().cpu()
            step += bucket.is_last()
        return allreduce_hook(None, bucket)

    ddp.register_comm_hook(None, hook)
