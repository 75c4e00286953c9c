#!/usr/bin/python3
"""Times the training of bench gpt in plain PyTorch and adds it as the baseline of the tokens a second.

usage: torch_gpt.py PROGRAM gpt.json

PROGRAM is residuum. Both train the same model, in turn, with one thread: nanoGPT's for a CPU on
batches of 12 sequences of 64 tokens, with AdamW. The file is what `PROGRAM bench gpt --json` prints;
the medians of all rounds take the place of its first line.
"""

import json
import statistics
import subprocess
import sys
import time

import torch
from torch import nn
from torch.nn import functional

VOCABULARY, CONTEXT, BATCH = 16, 64, 12
LAYERS, HEADS, WIDTH = 4, 4, 128
ITERATIONS, ROUNDS, TARGET = 40, 5, 0.95


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x):
        return functional.layer_norm(x, self.weight.shape, self.weight, None)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_attn = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.c_proj = nn.Linear(WIDTH, WIDTH, bias=False)
        self.register_buffer("mask", torch.ones(CONTEXT, CONTEXT).tril() == 0)

    def forward(self, x):
        def heads(part):
            return part.view(*x.shape[:2], HEADS, WIDTH // HEADS).transpose(1, 2)

        q, k, v = map(heads, self.c_attn(x).split(WIDTH, dim=2))
        scores = q @ k.transpose(-2, -1) / (WIDTH // HEADS) ** 0.5
        weights = scores.masked_fill(self.mask, float("-inf")).softmax(dim=-1)
        return self.c_proj((weights @ v).transpose(1, 2).reshape(x.shape))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.attn, self.ln_2 = Norm(), Attention(), Norm()
        self.c_fc = nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.c_proj = nn.Linear(4 * WIDTH, WIDTH, bias=False)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.c_proj(functional.gelu(self.c_fc(self.ln_2(x))))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(VOCABULARY, WIDTH)
        self.wpe = nn.Embedding(CONTEXT, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.ln_f = Norm()
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, tokens, labels):
        x = self.wte(tokens) + self.wpe.weight
        for layer in self.layers:
            x = layer(x)
        logits = functional.linear(self.ln_f(x), self.wte.weight)
        return functional.cross_entropy(logits.view(-1, VOCABULARY), labels.view(-1))


def tokens_per_second(model, optimiser, text):
    begin = time.perf_counter()
    for _ in range(ITERATIONS):
        starts = torch.randint(len(text) - CONTEXT, (BATCH,))
        tokens = torch.stack([text[s : s + CONTEXT] for s in starts])
        labels = torch.stack([text[s + 1 : s + 1 + CONTEXT] for s in starts])
        optimiser.zero_grad(set_to_none=True)
        model(tokens, labels).backward()
        optimiser.step()
    return BATCH * CONTEXT * ITERATIONS / (time.perf_counter() - begin)


def main(program, path):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    model = Gpt()
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.99), weight_decay=0.1)
    text = torch.randint(VOCABULARY, (20000,))
    ours, theirs = [], []
    for _ in range(ROUNDS):
        told = subprocess.run([program, "bench", "gpt", "--json"], check=True, capture_output=True)
        lines = json.loads(told.stdout)
        ours.append(lines[0]["value"])
        tokens_per_second(model, optimiser, text)
        theirs.append(tokens_per_second(model, optimiser, text))
    value, baseline = statistics.median(ours), statistics.median(theirs)
    added = {"value": value, "baseline": baseline, "ratio": value / baseline, "target": TARGET}
    name = f"{lines[0]['name']}, against PyTorch {torch.__version__}"
    lines[0].update({"name": name, **added, "met": value / baseline >= TARGET})
    with open(path, "w") as file:
        json.dump(lines, file, indent=2)
        file.write("\n")


main(sys.argv[1], sys.argv[2])
