"""Writes TorchScript files and what PyTorch says of them, for torchscript_test.cc: script_models.py FOLDER.

tests/objectives/torch/pooled.pt, which tests without Python use, is written by: script_models.py --pooled FILE."""

import struct
import sys
import zipfile

import numpy
import torch
from torch import nn
from torch.nn import functional

torch.set_num_threads(1)


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(6, 5)
        self.out = nn.Linear(5, 3)

    def forward(self, x):
        return self.out(torch.tanh(self.hidden(x)))


class WithBatchNorm(nn.Module):
    def __init__(self, momentum):
        super().__init__()
        self.first = nn.Linear(6, 5)
        self.norm = nn.BatchNorm1d(5, momentum=momentum)
        self.out = nn.Linear(5, 3)

    def forward(self, x):
        return self.out(torch.relu(self.norm(self.first(x))))


class WithDropout(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 64)
        self.drop = nn.Dropout(0.5)
        self.out = nn.Linear(64, 3)

    def forward(self, x):
        return self.out(self.drop(torch.relu(self.first(x))))


class Tied(nn.Module):
    """A language model whose logits use the embedding."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(7, 4)
        self.mix = nn.Linear(4, 4)
        self.logits = nn.Linear(4, 7, bias=False)
        self.logits.weight = self.embedding.weight

    def forward(self, tokens):
        return self.logits(torch.tanh(self.mix(self.embedding(tokens))))


class OwnLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(6, 5)
        self.out = nn.Linear(5, 3)

    def forward(self, x, labels):
        return functional.cross_entropy(self.out(torch.tanh(self.hidden(x))), labels)


class SumLoss(OwnLoss):
    def forward(self, x, labels):
        return functional.cross_entropy(self.out(torch.tanh(self.hidden(x))), labels, reduction="sum")


class AlwaysDrops(WithDropout):
    def forward(self, x):
        return self.out(functional.dropout(torch.relu(self.first(x)), 0.5, True))


class Centred(Mlp):
    def forward(self, x):
        return self.out(torch.tanh(self.hidden(x - x.mean(0))))


class Counts(Mlp):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x):
        self.calls += 1
        return self.out(torch.tanh(self.hidden(x)))


class WithIntegers(Mlp):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.arange(3), requires_grad=False)

    def forward(self, x):
        return self.out(torch.tanh(self.hidden(x))) + self.table


class Pooled(nn.Module):
    """Takes images of any size and has ten classes."""

    def __init__(self):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(2)
        self.out = nn.Linear(4, 10)

    def forward(self, x):
        return self.out(torch.flatten(self.pool(x), 1))


def save(folder, name, module):
    torch.jit.script(module).save(f"{folder}/{name}.pt")


def gradient_of(module, loss):
    module.zero_grad()
    loss.backward()
    return torch.cat([p.grad.flatten() for p in module.parameters() if p.requires_grad]).numpy()


def as_if_of_cuda(source, target):
    """Renames the device of every tensor, which torch.jit.save writes as a word."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for entry in old.namelist():
            content = old.read(entry)
            if entry.endswith("data.pkl") or entry.endswith("constants.pkl"):
                content = content.replace(b"X" + struct.pack("<I", 3) + b"cpu",
                                          b"X" + struct.pack("<I", 6) + b"cuda:0")
            new.writestr(entry, content)


def main(folder):
    torch.manual_seed(1)
    x = torch.randn(40, 6)
    classes = torch.randint(0, 3, (40,))
    targets = torch.randn(40, 3)
    tokens = torch.randint(0, 7, (40, 9))
    numpy.save(f"{folder}/x.npy", x.numpy())
    numpy.save(f"{folder}/classes.npy", classes.numpy())
    numpy.save(f"{folder}/targets.npy", targets.numpy())
    numpy.save(f"{folder}/tokens.npy", tokens[:, :-1].contiguous().numpy())
    numpy.save(f"{folder}/next.npy", tokens[:, 1:].contiguous().numpy())
    numpy.save(f"{folder}/narrow.npy", x[:, :4].contiguous().numpy())
    numpy.save(f"{folder}/fewer.npy", classes[:39].numpy())
    numpy.save(f"{folder}/high.npy", (classes + 1).numpy())

    mlp = Mlp()
    save(folder, "mlp", mlp)
    for count in (30, 32):  # 1/30 is rounded
        for precision in (torch.float32, torch.float64):
            module = mlp.to(precision)
            wanted = targets[:count].to(precision)
            for name, loss in (
                ("cross-entropy", lambda logits: functional.cross_entropy(logits, classes[:count])),
                ("mean-squared-error", lambda logits: functional.mse_loss(logits, wanted)),
            ):
                gradient = gradient_of(module, loss(module(x[:count].to(precision))))
                numpy.save(f"{folder}/{name}-{count}-{str(precision)[6:]}.npy", gradient)
    mlp.to(torch.float32)
    own = OwnLoss()
    own.load_state_dict(mlp.state_dict())
    save(folder, "own_loss", own)
    save(folder, "sum_loss", SumLoss())

    frozen = Mlp()
    frozen.load_state_dict(mlp.state_dict())
    for parameter in frozen.hidden.parameters():
        parameter.requires_grad_(False)
    save(folder, "half_frozen", frozen)
    for parameter in frozen.parameters():
        parameter.requires_grad_(False)
    save(folder, "frozen", frozen)
    save(folder, "nothing", nn.Sequential(nn.Flatten()))
    save(folder, "integers", WithIntegers())

    norm = WithBatchNorm(0.25)
    save(folder, "batch_norm", norm)
    norm.train()
    numpy.save(f"{folder}/batch_norm-gradient.npy",
               gradient_of(norm, functional.cross_entropy(norm(x[:32]), classes[:32])))
    numpy.save(f"{folder}/batch_norm-statistics.npy",
               torch.cat([norm.norm.running_mean, norm.norm.running_var]).numpy())
    save(folder, "averaging", WithBatchNorm(None))
    save(folder, "centred", Centred())
    save(folder, "dropout", WithDropout())
    save(folder, "always_drops", AlwaysDrops())
    save(folder, "counts", Counts())

    tied = Tied()
    save(folder, "tied", tied)
    logits = tied(tokens[:16, :-1])
    numpy.save(f"{folder}/tied-gradient.npy",
               gradient_of(tied, functional.cross_entropy(logits.flatten(0, 1), tokens[:16, 1:].flatten())))

    torch.save(mlp.state_dict(), f"{folder}/state_dict.pt")
    torch.save(mlp, f"{folder}/pickled.pt")
    as_if_of_cuda(f"{folder}/mlp.pt", f"{folder}/cuda.pt")


if sys.argv[1] == "--pooled":
    torch.manual_seed(1)
    torch.jit.script(Pooled()).save(sys.argv[2])
else:
    main(sys.argv[1])
