"""Measures sparsified gradients in a PyTorch training while it runs.

    import residuum

    monitor = residuum.attach(ddp, "live.toml", out="results/mine", optimizer=optimizer)
    ...                  # the training loop as it was
    monitor.close()

`live.toml` is a study without [objective] and [budget]: it names sparsifiers, aggregators, feedbacks and probes. In shadow mode, the
default, the training keeps its bits: every method of the study runs beside it on the same gradients, with a memory of its own. With
apply=True the hook returns the update of the study's only method, so the training is the compressed one. `residuum watch`,
`residuum report` and `residuum compare` read the folder. Needs torch and libresiduum_live.so, which RESIDUUM_LIBRARY may name.
"""

from __future__ import annotations

import atexit
import ctypes
import datetime
import os
import pathlib
import sys
import tempfile
import warnings
from typing import Any, Iterable, Sequence

import torch
import torch.distributed as dist

_SEND = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)


class ResiduumError(RuntimeError):
    """What the library refused, in one line, or why a study has ended."""


class _Transport(ctypes.Structure):
    _fields_ = [("context", ctypes.c_void_p), ("rank", ctypes.c_int), ("size", ctypes.c_int), ("send", _SEND), ("receive", _SEND)]


class _Layer(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("shape", ctypes.POINTER(ctypes.c_int64)), ("dimensions", ctypes.c_int)]


def _load_library() -> ctypes.CDLL:
    here = pathlib.Path(__file__).resolve().parent
    places = [os.environ.get("RESIDUUM_LIBRARY"), here / "libresiduum_live.so", *here.glob("../../../lib*/**/libresiduum_live.so")]
    found = next((str(place) for place in places if place and os.path.exists(place)), "libresiduum_live.so")
    library = ctypes.CDLL(found)
    library.residuum_open.restype = ctypes.c_void_p
    library.residuum_open.argtypes = [ctypes.c_char_p] * 3 + [ctypes.c_void_p] * 2 + [ctypes.c_size_t, ctypes.c_int, ctypes.c_int]
    library.residuum_step.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double, ctypes.c_void_p]
    library.residuum_note.argtypes = [ctypes.c_void_p, ctypes.c_double]
    library.residuum_save.argtypes = library.residuum_load.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    library.residuum_close.argtypes = [ctypes.c_void_p, ctypes.c_int]
    library.residuum_last_error.restype = ctypes.c_char_p
    return library


class _Messages:
    """Carries the library's messages over a gloo group of torch.distributed that nobody else uses."""

    def __init__(self, timeout_s: float) -> None:
        self.group = dist.new_group(backend="gloo", timeout=datetime.timedelta(seconds=timeout_s))
        self.under_way: list[tuple[Any, torch.Tensor]] = []
        self.error = ""

    def send(self, _: Any, to: int, address: int, size: int) -> int:
        return self._guarded(self._send, to, address, size)

    def receive(self, _: Any, sender: int, address: int, size: int) -> int:
        return self._guarded(self._receive, sender, address, size)

    def _send(self, to: int, address: int, size: int) -> None:
        self.under_way = [(work, kept) for work, kept in self.under_way if not work.is_completed()]
        message = torch.frombuffer(bytearray(ctypes.string_at(address, size)), dtype=torch.uint8)
        self.under_way.append((dist.isend(message, to, group=self.group), message))

    def _receive(self, sender: int, address: int, size: int) -> None:
        room = torch.frombuffer((ctypes.c_ubyte * size).from_address(address), dtype=torch.uint8)
        dist.recv(room, sender, group=self.group)

    def _guarded(self, action: Any, peer: int, address: int, size: int) -> int:
        try:
            action(peer, address, size)
            return 0
        except BaseException as error:  # no exception may pass through the library
            self.error = str(error).splitlines()[0] if str(error) else type(error).__name__
            return 1


class Monitor:
    """A study attached to a training; made by `attach`.

    names, shapes: of the parameters with gradients, in their order; a gradient is their flat concatenation, d float32 in all.
    workers: how many gradients this process hands over in a step; P is their sum over the processes.
    """

    def __init__(self, study: str | os.PathLike[str], out: str | os.PathLike[str], names: Sequence[str],
                 shapes: Sequence[torch.Size], workers: int, apply: bool, timeout_s: float) -> None:  # fmt: skip
        self._library = _load_library()
        self._names, self._sizes = list(names), [shape.numel() for shape in shapes]
        self._apply, self._workers, self._steps = apply, workers, 0
        self.stopped = ""  # why the study has ended before the training
        distributed = dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1
        self._messages = _Messages(timeout_s) if distributed else None
        rank, size = (dist.get_rank(), dist.get_world_size()) if distributed else (0, 1)
        calls = (_SEND(self._messages.send), _SEND(self._messages.receive)) if self._messages else (_SEND(), _SEND())
        self._transport = _Transport(None, rank, size, *calls)  # kept: the library calls it
        layers = (_Layer * len(self._names))()
        for layer, name, shape in zip(layers, self._names, shapes):
            layer.name, layer.dimensions = name.encode(), len(shape)
            layer.shape = (ctypes.c_int64 * max(len(shape), 1))(*shape)
        path = pathlib.Path(study)
        self._handle = self._library.residuum_open(
            path.read_bytes(), str(path).encode(), os.fsencode(out), ctypes.byref(self._transport), layers, len(layers), workers, int(apply))
        if not self._handle:
            raise ResiduumError(self._reason())
        self._out = pathlib.Path(out)
        self._flat = torch.empty(workers, sum(self._sizes), pin_memory=torch.cuda.is_available())
        atexit.register(self.close)
        _watch_for_failure()

    def step(self, gradients: Any, lr: float = 1.0, loss: float | None = None) -> torch.Tensor | None:
        """Hands over the gradients of one step: a flat tensor of d entries, a list of tensors in the order of the parameters (None: no
        gradient, which is 0), or a list of these, one per worker. Gradients must be those that the step uses: unscaled, finite, summed over
        accumulation. lr: learning rate in use, for step.value = "live". Returns the update, d float32, with apply; else None."""
        if self.stopped or not self._handle:
            if self._apply:
                raise ResiduumError(self.stopped or "the monitor is closed")
            return None
        for row, gradient in zip(self._flat, self._by_worker(gradients)):
            self._fill(row, gradient)
        rows = (ctypes.c_void_p * self._workers)(*[row.data_ptr() for row in self._flat])
        update = torch.empty(self._flat.shape[1]) if self._apply else None
        code = self._library.residuum_step(self._handle, rows, lr, update.data_ptr() if update is not None else None)
        if code != 0:
            self._stop(self._reason())
        elif loss is not None:
            self._check(self._library.residuum_note(self._handle, float(loss)))
        self._steps += 1
        return update

    def state_dict(self) -> dict[str, bytes]:
        """Returns the memories of all methods, for a checkpoint of the training; call it on all ranks. Only rank 0 gets something."""
        with tempfile.TemporaryDirectory() as folder:
            if self._handle and not self.stopped:
                self._check(self._library.residuum_save(self._handle, os.fsencode(folder)))
            return {file.name: file.read_bytes() for file in sorted(pathlib.Path(folder).iterdir())}

    def load_state_dict(self, state: dict[str, bytes]) -> None:
        """Goes on from a state_dict, before the first step and with the same folder of results; call it on all ranks."""
        with tempfile.TemporaryDirectory() as folder:
            for name, content in state.items():
                (pathlib.Path(folder) / pathlib.PurePath(name).name).write_bytes(content)
            self._check(self._library.residuum_load(self._handle, os.fsencode(folder)))

    def close(self) -> None:
        """Ends the study and writes its tables; call it on all ranks. Later calls do nothing. After an exception of the training
        the folder is left as it is."""
        handle, self._handle = self._handle, None
        atexit.unregister(self.close)
        if handle:
            abandons = _training_failed or bool(self._messages and self._messages.error)
            code = self._library.residuum_close(handle, int(abandons))
            if code != 0 and not self.stopped:
                self._stop(self._reason())

    def __enter__(self) -> Monitor:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        global _training_failed
        _training_failed = _training_failed or kind is not None
        self.close()

    def _by_worker(self, gradients: Any) -> list[Any]:
        several = not isinstance(gradients, torch.Tensor) and len(gradients) == self._workers and not isinstance(gradients[0], (torch.Tensor, type(None)))
        by_worker = list(gradients) if several or (self._workers > 1 and not isinstance(gradients, torch.Tensor)) else [gradients]
        if len(by_worker) != self._workers:
            raise ResiduumError(f"a step takes the gradients of {self._workers} workers, got {len(by_worker)}")
        return by_worker

    def _fill(self, row: torch.Tensor, gradient: Any) -> None:
        if isinstance(gradient, torch.Tensor):
            if gradient.numel() != row.numel():
                raise ResiduumError(f"step {self._steps}: a gradient has {gradient.numel()} entries, but the model has {row.numel()}")
            row.copy_(gradient.detach().reshape(-1))
            return
        if len(gradient) != len(self._sizes):
            raise ResiduumError(f"step {self._steps}: {len(gradient)} gradients, but the model has {len(self._sizes)} parameters")
        for name, part, given in zip(self._names, row.split(self._sizes), gradient):
            if given is None:
                part.zero_()
            elif given.numel() != part.numel():
                raise ResiduumError(f"step {self._steps}: the gradient of {name} has {given.numel()} entries, but it had {part.numel()}")
            else:
                part.copy_(given.detach().reshape(-1))

    def _reason(self) -> str:
        reason = self._library.residuum_last_error().decode(errors="replace")
        return f"{reason}: {self._messages.error}" if self._messages and self._messages.error else reason

    def _check(self, code: int) -> None:
        if code != 0:
            raise ResiduumError(self._reason())

    def _stop(self, reason: str) -> None:
        self.stopped = reason
        if self._apply:
            raise ResiduumError(reason)
        warnings.warn(f"residuum: the study has stopped, the training goes on: {reason}", RuntimeWarning, stacklevel=3)


_training_failed = False


def _watch_for_failure() -> None:
    before = sys.excepthook

    def hook(*details: Any) -> None:
        global _training_failed
        _training_failed = True
        before(*details)

    sys.excepthook = hook


def attach(model: torch.nn.Module, study: str | os.PathLike[str], out: str | os.PathLike[str], *, optimizer: torch.optim.Optimizer | None = None,
           apply: bool = False, workers: int = 1, scaler: Any = None, timeout_s: float = 600) -> Monitor:  # fmt: skip
    """Attaches the study to the training of a model and returns its monitor; call it on all ranks, before the first step.

    A DistributedDataParallel model gets a communication hook, by which every backward pass that exchanges gradients is a step of the study; in
    shadow mode the hook does what DDP does without one. Any other model has no hook: call monitor.step(...) in every step, with the gradients of
    `workers` workers. optimizer: its learning rate is handed on. scaler: a GradScaler, whose scale is divided out; a step that overflows is
    left out. timeout_s: so long processes wait for each other's messages before the study gives up.
    """
    names, parameters = zip(*[(name, value) for name, value in getattr(model, "module", model).named_parameters() if value.requires_grad])
    monitor = Monitor(study, out, names, [value.shape for value in parameters], workers, apply, timeout_s)
    if isinstance(model, torch.nn.parallel.DistributedDataParallel):
        model.register_comm_hook(_Steps(monitor, parameters, optimizer, scaler), _hook)
    return monitor


class _Steps:
    """Collects the buckets of a backward pass; when the last has come they are a step."""

    def __init__(self, monitor: Monitor, parameters: Iterable[torch.nn.Parameter], optimizer: Any, scaler: Any) -> None:
        self.monitor, self.optimizer, self.scaler = monitor, optimizer, scaler
        self.places = {id(value): place for place, value in enumerate(parameters)}
        self.gradients: list[torch.Tensor | None] = [None] * len(self.places)
        self.waiting: list[tuple[Any, Any]] = []
        self.world = dist.get_world_size()


def _hook(state: _Steps, bucket: Any) -> Any:
    scale = float(state.scaler.get_scale()) if state.scaler is not None else 1.0
    for parameter, gradient in zip(bucket.parameters(), bucket.gradients()):
        state.gradients[state.places[id(parameter)]] = gradient.detach().float() / scale if scale != 1 else gradient.detach().float().clone()
    done: Any = torch.futures.Future()
    state.waiting.append((done, bucket))
    if not state.monitor._apply:
        # As DDP without a hook: it multiplies by 1 / P, then adds.
        reduced = dist.all_reduce(bucket.buffer().mul_(1.0 / state.world), async_op=True).get_future()
        reduced.add_done_callback(lambda future: done.set_result(future.value()[0]))
    if bucket.is_last():
        _take_step(state)
    return done


def _take_step(state: _Steps) -> None:
    gradients, waiting = state.gradients, state.waiting
    state.gradients, state.waiting = [None] * len(gradients), []
    lr = state.optimizer.param_groups[0]["lr"] if state.optimizer is not None else 1.0
    if state.scaler is not None:
        overflow = torch.tensor([float(any(g is not None and not bool(torch.isfinite(g).all()) for g in gradients))])
        dist.all_reduce(overflow, group=state.monitor._messages.group if state.monitor._messages else None)
        if overflow.item() > 0:
            gradients = None  # type: ignore[assignment]
    update = state.monitor.step(gradients, lr=lr) if gradients is not None else None
    if state.monitor._apply:
        parts = update.split(state.monitor._sizes) if update is not None else None
        for done, bucket in waiting:
            for parameter, gradient in zip(bucket.parameters(), bucket.gradients()):
                part = parts[state.places[id(parameter)]] if parts is not None else torch.full_like(gradient, float("inf"))
                gradient.copy_(part.reshape(gradient.shape))
            done.set_result(bucket.buffer())
