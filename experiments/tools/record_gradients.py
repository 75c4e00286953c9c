"""Records the gradients of a DistributedDataParallel training for `kind = "recorded"`: what each worker would send,
before it is averaged. PyTorch 1.13 and later.

    from record_gradients import record_gradients

    record_gradients(ddp, "gradients", steps=100)

The folder gets a file 00000000.npy, 00000001.npy, ... of shape (P, d) for each recorded step, whole or not at all, and
layers.toml with the names and shapes of the parameters, for the section [objective] of a study.
"""

import os
import pathlib
import sys
from typing import Callable, Optional

import numpy
import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
from torch.nn.parallel import DistributedDataParallel


def record_gradients(ddp: DistributedDataParallel, folder: str, steps: int, *, start: int = 0, every: int = 1,
                     only: Optional[Callable[[str], bool]] = None, dtype: str = "float32") -> None:
    """Records `steps` steps: the steps start, start + every, ... of those in which DDP exchanges gradients.

    All processes call it, before the training. The training goes on as with PyTorch's own all-reduce hook.
    only: takes the name of a parameter and returns whether it is recorded; frozen parameters never are.
    dtype: of the files, "float32" or "float16" (half the disk). Gradients of any type are widened first, and
        parameters without a gradient in a step have zeros. Those of a GradScaler are scaled.
    Raises FileExistsError where the folder has recorded steps. A step with nan or inf ends the recording.
    """
    path, rank = pathlib.Path(folder), dist.get_rank()
    chosen = [(name, p) for name, p in ddp.module.named_parameters() if p.requires_grad and (not only or only(name))]
    place, d = {}, 0
    for _, p in chosen:
        place[p.data_ptr()], d = d, d + p.numel()
    group = dist.new_group(backend="gloo")  # on the CPU, beside the exchanges of the training
    taken = [rank == 0 and any(path.glob("*.npy"))]
    dist.broadcast_object_list(taken, src=0, group=group)
    if taken[0]:
        raise FileExistsError(f"{path} has recorded steps; remove them or name another folder")
    if rank == 0:
        path.mkdir(parents=True, exist_ok=True)
        layers = ",\n".join(f'  {{ name = "{name}", shape = {list(p.shape) or [1]} }}' for name, p in chosen)
        (path / "layers.toml").write_text(f"layers = [\n{layers}\n]\n", encoding="utf-8")
    own = torch.zeros(d)
    step, recorded = 0, 0

    def write() -> bool:
        rows = [torch.empty_like(own) for _ in range(dist.get_world_size())] if rank == 0 else None
        dist.gather(own, rows, dst=0, group=group)
        finite = torch.ones(1)
        if rank == 0:
            array = torch.stack(rows).numpy().astype(dtype)
            if not numpy.isfinite(array).all():
                finite.zero_()
                print(f"record_gradients: step {step} has numbers that {dtype} cannot hold: the recording ends",
                      file=sys.stderr)
            else:
                part = path / f"{recorded:08}.part"
                with open(part, "wb") as file:
                    numpy.save(file, array)
                os.replace(part, path / f"{recorded:08}.npy")
        dist.broadcast(finite, src=0, group=group)
        return bool(finite)

    def hook(_, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
        nonlocal step, recorded
        is_due = recorded < steps and step >= start and (step - start) % every == 0
        if is_due:
            for p, g in zip(bucket.parameters(), bucket.gradients()):
                at = place.get(p.data_ptr())
                if at is not None:
                    own[at:at + g.numel()] = g.detach().flatten().float().cpu()
        if bucket.is_last():
            if is_due:
                recorded = recorded + 1 if write() else steps
                own.zero_()
            step += 1
        return allreduce_hook(None, bucket)

    ddp.register_comm_hook(None, hook)
