"""Measures sparsified gradients in a PyTorch training while it runs.

    import residuum

    monitor = residuum.attach(ddp, "live.toml", out="results/mine", optimizer=optimizer)
    ...                  # the training loop as it was
    monitor.close()

`live.toml` is a study without [objective] and [budget]: it names sparsifiers, aggregators, feedbacks and probes. In shadow mode, the
default, the training keeps its bits: every method of the study runs beside it on the same gradients, with a memory of its own. With
apply=True the hook returns the update of the study's only method, so the training is the compressed one. `residuum watch`, `report` and
`compare` read the folder. It needs torch and libresiduum_live.so, which it looks for in the installation, or in build/release of the sources;
RESIDUUM_LIBRARY may name another.
"""

from __future__ import annotations

import atexit
import collections
import contextlib
import ctypes
import ctypes.util
import datetime
import os
import pathlib
import sys
import tempfile
import warnings
from typing import Any, Sequence, Union

import torch
import torch.distributed as dist

Path = Union[str, "os.PathLike[str]"]
_CARRY = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)


class ResiduumError(RuntimeError):
    """What the library refused, in one line, or why a study has ended."""


class _Transport(ctypes.Structure):
    _fields_ = [("context", ctypes.c_void_p), ("rank", ctypes.c_int), ("size", ctypes.c_int), ("send", _CARRY), ("receive", _CARRY)]


class _Layer(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("shape", ctypes.POINTER(ctypes.c_int64)), ("dimensions", ctypes.c_int)]


class _Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]  # in the words of DLPack


_CPU, _CUDA, _STAND_IN = 1, 2, 12  # types of devices


def _find_library() -> str:
    named, name = os.environ.get("RESIDUUM_LIBRARY"), "libresiduum_live.so"
    if named:
        return named
    here = pathlib.Path(__file__).resolve().parent
    places = [here / name, here.parent.parent / "build" / "release" / name, *here.glob(f"../../../lib*/**/{name}")]
    found = next((str(place) for place in places if place.exists()), None) or ctypes.util.find_library("residuum_live")
    if found is None:
        raise ResiduumError(f"{name} is not there (looked for {places[0]}, {places[1]} and in the system's folders of libraries); "
                            "build it by cmake --build build/release --target residuum_live, or let RESIDUUM_LIBRARY name it")
    return found


def _load_library() -> ctypes.CDLL:
    library = ctypes.CDLL(_find_library())
    pointer, text, number, whole = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_double, ctypes.c_int
    library.residuum_open.restype, library.residuum_last_error.restype = pointer, text
    library.residuum_open.argtypes = [text, text, text, pointer, pointer, ctypes.c_size_t, whole, whole, pointer]
    library.residuum_takes_device_memory.argtypes = [pointer]
    library.residuum_step.argtypes = [pointer, pointer, number, pointer]
    library.residuum_note.argtypes, library.residuum_close.argtypes = [pointer, number], [pointer, whole]
    library.residuum_save.argtypes = library.residuum_load.argtypes = [pointer, text]
    return library


class _Messages:
    """Carries the library's messages over gloo groups of torch.distributed that nobody else uses.

    A message ends with 8 bytes: how many this rank has taken from the other one. gloo frees a message only when it is waited for, and to wait
    for one that nobody has taken yet could stop both ranks.
    """

    def __init__(self, timeout_s: float) -> None:
        patience = datetime.timedelta(seconds=timeout_s)
        self.group, self.answers = (dist.new_group(backend="gloo", timeout=patience) for _ in range(2))
        self.under_way: dict[int, collections.deque[tuple[Any, torch.Tensor]]] = collections.defaultdict(collections.deque)
        self.freed, self.taken = collections.Counter[int](), collections.Counter[int]()  # to a rank, from a rank
        self.error = ""

    def send(self, to: int, address: int, size: int) -> None:
        message = torch.empty(size + 8, dtype=torch.uint8)
        ctypes.memmove(message.data_ptr(), address, size)
        ctypes.c_int64.from_address(message.data_ptr() + size).value = self.taken[to]
        self.under_way[to].append((dist.isend(message, to, group=self.group), message))

    def deliver(self) -> None:
        """Waits for what the other ranks still need of this one; nobody may be left to take it."""
        with contextlib.suppress(Exception):
            for work, _ in (one for messages in self.under_way.values() for one in messages):
                work.wait()

    def receive(self, sender: int, address: int, size: int) -> None:
        message = torch.empty(size + 8, dtype=torch.uint8)
        dist.recv(message, sender, group=self.group)
        ctypes.memmove(address, message.data_ptr(), size)
        self.taken[sender] += 1
        arrived = ctypes.c_int64.from_address(message.data_ptr() + size).value
        while self.freed[sender] < arrived:
            self.freed[sender] += 1
            self.under_way[sender].popleft()[0].wait()

    def call(self, action: Any) -> Any:
        def guarded(_: Any, peer: int, address: int, size: int) -> int:
            try:
                action(peer, address, size)
                return 0
            except BaseException as error:  # no exception may pass through the library
                self.error = (str(error) or type(error).__name__).splitlines()[0]
                return 1

        return _CARRY(guarded)


class Monitor:
    """A study attached to a training; made by `attach`. `stopped` says why it has ended before the training.

    names, shapes: of the parameters that have gradients, in their order; a gradient is their concatenation, d float32 in all.
    workers: how many gradients this process hands over in a step; P is their sum over the processes.
    device: type and number of the device that the gradients are on.
    """

    def __init__(self, study: Path, out: Path, names: Sequence[str], shapes: Sequence[torch.Size], workers: int, apply: bool, timeout_s: float,
                 device: tuple[int, int]) -> None:
        self.names, self.shapes, self.sizes = list(names), list(shapes), [shape.numel() for shape in shapes]
        self.apply, self.workers, self.steps, self.stopped, self._process = apply, workers, 0, "", os.getpid()
        distributed = dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1
        self.messages = _Messages(timeout_s) if distributed else None
        rank, size = (dist.get_rank(), dist.get_world_size()) if distributed else (0, 1)
        calls = [self.messages.call(one) for one in (self.messages.send, self.messages.receive)] if self.messages else [_CARRY(), _CARRY()]
        self._transport = _Transport(None, rank, size, *calls)  # kept, because the library calls it
        layers = (_Layer * len(self.names))()
        for layer, name, shape in zip(layers, self.names, shapes):
            layer.name, layer.dimensions = name.encode(), len(shape)
            layer.shape = (ctypes.c_int64 * max(len(shape), 1))(*shape)
        self._library, text, file = _load_library(), pathlib.Path(study).read_bytes(), os.fsencode(study)
        transport = ctypes.byref(self._transport)
        self._handle = self._library.residuum_open(text, file, os.fsencode(out), transport, layers, len(layers), workers, int(apply),
                                                   ctypes.byref(_Device(*device)))
        if not self._handle:
            raise ResiduumError(self._reason())
        stays = device[0] == _CUDA and self._library.residuum_takes_device_memory(self._handle) != 0
        self.device = torch.device("cuda", device[1]) if stays else torch.device("cpu")
        self.flat = self._room()  # every bucket's part is written in every step
        self._read = self.flat if apply else self._room()  # by the library, beside the next step
        self.parts = [row.split(self.sizes) for row in self.flat]
        atexit.register(self.close)

    def _room(self) -> torch.Tensor:
        """Room for the gradients of all workers, (workers, d). Each begins at a multiple of 16 bytes, as kernels want it."""
        entries = sum(self.sizes)
        pinned = self.device.type == "cpu" and torch.cuda.is_available()
        return torch.zeros(self.workers, (entries + 3) // 4 * 4, device=self.device, pin_memory=pinned)[:, :entries]

    def step(self, gradients: Any, lr: float = 1.0, loss: float | None = None) -> torch.Tensor | None:
        """Hands over the gradients of one step: a flat tensor of d entries, or a list of tensors in the order of the parameters, None where
        one has no gradient; with several workers a list of these. They are those that the step uses: unscaled, and summed over its
        accumulation. lr: learning rate in use, for step.value = "live". loss: goes to training.csv. With apply it returns the update, d
        float32."""
        by_worker = list(gradients) if self.workers > 1 else [gradients]
        if len(by_worker) != self.workers:
            raise ResiduumError(f"step {self.steps} has the gradients of {len(by_worker)} workers, not of {self.workers}")
        for row, parts, gradient in zip(self.flat, self.parts, by_worker):
            is_flat = not isinstance(gradient, (list, tuple))
            given, rooms, shapes = ([gradient], [row], [row.shape]) if is_flat else (gradient, parts, self.shapes)
            if len(given) != len(rooms):
                raise ResiduumError(f"step {self.steps} has {len(given)} gradients, but the model had {len(rooms)} parameters")
            for name, room, shape, values in zip(["the model"] if is_flat else self.names, rooms, shapes, given):
                values = torch.zeros(shape) if values is None else _dense(torch.as_tensor(values))
                if values.shape != shape:
                    raise ResiduumError(f"step {self.steps}: the gradient of {name} has the shape {tuple(values.shape)}, not {tuple(shape)}")
                room.copy_(values.reshape(-1))
        update = self.step_filled(lr)
        if loss is not None:
            self.note(loss)
        return update

    def step_filled(self, lr: float) -> torch.Tensor | None:
        """As `step`, with the gradients that lie in `flat`, (workers, d) float32."""
        if self.stopped or not self._handle:
            self._stop(self.stopped or "the monitor is closed") if self.apply else None
            return None
        if self.device.type == "cuda":
            torch.cuda.current_stream(self.device).synchronize()  # the library reads on another stream
        rows = (ctypes.c_void_p * self.workers)(*[row.data_ptr() for row in self.flat])
        update = torch.empty(self.flat.shape[1]) if self.apply else None
        if self._library.residuum_step(self._handle, rows, lr, update.data_ptr() if update is not None else None) != 0:
            self._stop(self._reason())
        self.flat, self._read = self._read, self.flat
        self.parts = [row.split(self.sizes) for row in self.flat]
        self.steps += 1
        return update

    def note(self, loss: float) -> None:
        """Writes the loss of the last step to training.csv in the folder; rank 0 alone writes."""
        if self._handle and not self.stopped and self._library.residuum_note(self._handle, float(loss)) != 0:
            self._stop(self._reason())

    def state_dict(self) -> dict[str, bytes]:
        """Returns the memories of all methods, for a checkpoint of the training; call it on all ranks. Rank 0 alone gets something. A study
        that has stopped or is closed has none, which is a warning."""
        if self.stopped or not self._handle:
            why = self.stopped or "the monitor is closed"
            warnings.warn(f"a training that starts from this checkpoint needs another folder for its study: {why}", RuntimeWarning, stacklevel=2)
            return {}
        with tempfile.TemporaryDirectory() as folder:
            self._check(self._library.residuum_save(self._handle, os.fsencode(folder)))
            return {file.name: file.read_bytes() for file in sorted(pathlib.Path(folder).iterdir())}

    def load_state_dict(self, state: dict[str, bytes]) -> None:
        """Goes on from a state_dict, before the first step and with the same folder of results; call it on all ranks."""
        with tempfile.TemporaryDirectory() as folder:
            for name, content in state.items():
                (pathlib.Path(folder) / pathlib.PurePath(name).name).write_bytes(content)
            self._check(self._library.residuum_load(self._handle, os.fsencode(folder)))

    def close(self) -> None:
        """Ends the study and writes its tables; call it on all ranks. Later calls do nothing. After an exception that ended the training, or
        a lost process, the folder stays as it is."""
        self._end(bool(_failures or (self.messages and self.messages.error)))

    def _end(self, abandons: bool) -> None:
        handle, self._handle = self._handle, None
        atexit.unregister(self.close)
        if not handle or os.getpid() != self._process:  # a fork has none of the library's threads
            return
        if abandons:
            _left.append(self._read)
        if self._library.residuum_close(handle, int(abandons)) != 0 and not self.stopped:
            self._stop(self._reason())
        if self.messages and not abandons:
            self.messages.deliver()

    def __enter__(self) -> Monitor:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        self._end(True) if kind is not None else self.close()

    def _reason(self) -> str:
        reason = self._library.residuum_last_error().decode(errors="replace")
        return f"{reason}: {self.messages.error}" if self.messages and self.messages.error else reason

    def _check(self, code: int) -> None:
        if code != 0:
            raise ResiduumError(self._reason())

    def _stop(self, reason: str) -> None:
        self.stopped = reason
        if self.apply:
            raise ResiduumError(reason)
        warnings.warn(f"the study has stopped, the training goes on: {reason}", RuntimeWarning, stacklevel=3)


_left: list[torch.Tensor] = []  # what a run that waits for a lost process may still read
_failures: list[Any] = []  # exceptions that end the program: other ranks may not take part in an orderly end


def _dense(gradient: torch.Tensor) -> torch.Tensor:
    return (gradient.to_dense() if gradient.layout != torch.strided else gradient).detach()


def _note_failure(*details: Any, before: Any = sys.excepthook) -> None:
    if not sys.flags.interactive and not hasattr(sys, "ps1"):
        _failures.append(details[0])
    before(*details)


sys.excepthook = _note_failure


def attach(model: torch.nn.Module, study: Path, out: Path, *, optimizer: torch.optim.Optimizer | None = None, apply: bool = False,
           workers: int = 1, scaler: Any = None, timeout_s: float = 600, device: str | None = None) -> Monitor:
    """Attaches the study to the training of a model; call it on all ranks, before the first step.

    A DistributedDataParallel model gets a communication hook: every backward pass that exchanges gradients is a step of the study. In shadow
    mode the hook does what DDP does without one. Any other model has no hook: call monitor.step(...) in every step, with the gradients of
    `workers` workers. optimizer: its learning rate is handed on. scaler: a GradScaler, whose scale is divided out; a step that overflows is
    left out. timeout_s: so long processes wait for each other's messages before the study gives up. device: gradients are where the
    parameters are; "stand-in" says of a training on the CPU that its memory is that of a device, for tests. If the study says
    `device = "auto"` in [workers], gradients on a GPU stay there, else they are copied to the host in every step.
    """
    is_ddp = isinstance(model, torch.nn.parallel.DistributedDataParallel)
    if is_ddp and (workers != 1 or model.process_group.size() != dist.get_world_size()):
        raise ResiduumError("a DistributedDataParallel model has one worker a process, and its process group must be that of all processes")
    named = [(name, value) for name, value in getattr(model, "module", model).named_parameters() if value.requires_grad and value.numel()]
    monitor = Monitor(study, out, [name for name, _ in named], [value.shape for _, value in named], workers, apply, timeout_s,
                      (_STAND_IN, 0) if device == "stand-in" else _device_of([value for _, value in named]))
    if is_ddp:
        try:
            model.register_comm_hook(_Steps(monitor, [value for _, value in named], optimizer, scaler, model.process_group), _hook)
        except BaseException:
            monitor._end(True)
            raise
    return monitor


def _device_of(parameters: Sequence[torch.Tensor]) -> tuple[int, int]:
    """The CUDA device that has all parameters, else the CPU."""
    devices = {value.device for value in parameters}
    device = devices.pop() if len(devices) == 1 else torch.device("cpu")
    is_cuda = device.type == "cuda" and torch.version.cuda is not None  # ROCm calls its devices so, too
    return (_CUDA, device.index or 0) if is_cuda else (_CPU, 0)


class _Steps:
    """Collects the buckets of a backward pass; with the last they are a step."""

    def __init__(self, monitor: Monitor, parameters: Sequence[torch.nn.Parameter], optimizer: Any, scaler: Any, group: Any) -> None:
        self.monitor, self.optimizer, self.scaler, self.group = monitor, optimizer, scaler, group
        self.places = {id(value): place for place, value in enumerate(parameters)}
        self.waiting: list[tuple[Any, Any]] = []

    def of(self, bucket: Any, parts: Sequence[torch.Tensor]) -> list[tuple[torch.Tensor, torch.Tensor]]:
        if not all(id(one) in self.places for one in bucket.parameters()):
            raise ResiduumError("the model has another parameter than when the study was attached")
        return [(parts[self.places[id(one)]], gradient) for one, gradient in zip(bucket.parameters(), bucket.gradients())]

    def take_step(self) -> None:
        scale, update = self.scaler.get_scale() if self.scaler is not None and self.scaler.is_enabled() else 1.0, None
        if scale == 1.0 or self.is_finite(self.monitor.flat[0].div_(scale)):
            update = self.monitor.step_filled(self.optimizer.param_groups[0]["lr"] if self.optimizer else 1.0)
        elif self.monitor.apply:
            update = torch.full_like(self.monitor.flat[0], float("inf"))  # the scaler leaves out the step
        waiting, self.waiting = self.waiting, []
        for done, bucket in waiting:
            for part, gradient in self.of(bucket, update.split(self.monitor.sizes)):
                gradient.copy_((part * scale).reshape(gradient.shape))
            done.set_result(bucket.buffer())

    def is_finite(self, gradient: torch.Tensor) -> bool:
        answer = torch.isfinite(gradient).all().float().cpu()
        if self.monitor.messages:  # of all ranks
            dist.all_reduce(answer, dist.ReduceOp.MIN, group=self.monitor.messages.answers)
        return bool(answer.item() > 0)


def _hook(state, bucket):  # type: ignore[no-untyped-def]  # DDP reads annotations, and these are texts here
    buffer, monitor = bucket.buffer(), state.monitor
    if monitor.apply:
        done = torch.futures.Future(devices=[buffer.device] if buffer.is_cuda else None)
        state.waiting.append((done, bucket))
    try:
        if not monitor.stopped:
            for part, gradient in state.of(bucket, monitor.parts[0]):
                part.copy_(_dense(gradient).reshape(-1))
        if bucket.is_last() and (monitor.apply or not monitor.stopped):
            state.take_step()
    except ResiduumError as error:
        monitor._stop(str(error))  # a shadow goes on without the study
    if monitor.apply:
        return done
    # As DDP without a hook: it multiplies by 1/P, then adds.
    reduced = dist.all_reduce(buffer.mul_(1.0 / state.group.size()), group=state.group, async_op=True).get_future()
    return reduced.then(lambda future: future.value()[0])
