#!/usr/bin/env python3
"""Times torch.topk on the device and adds the second half of P7 to what residuum-bench-cuda wrote.

usage: torch_topk.py cuda.json

It runs after the benchmark on the same device, for machines that have PyTorch but no libtorch to
build against. A selection is topk(|x|, k) with k = d / 1000, waited for, of a vector that is there.
"""

import json
import re
import statistics
import sys
import time

import torch

REPETITIONS = 50
TARGET = 10.0


def median_ms(d):
    x = torch.randn(d, device="cuda")
    times = []
    for repetition in range(REPETITIONS + 5):
        start = time.perf_counter()
        torch.topk(x.abs(), d // 1000)
        torch.cuda.synchronize()
        if repetition >= 5:
            times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def against_topk(line):
    d = int(re.search(r"d = (\d+)", line["name"])[1])
    baseline = median_ms(d)
    ratio = baseline / line["value"]
    name = f"step on the device, d = {d}, against torch.topk of PyTorch {torch.__version__}"
    added = {"name": name, "baseline": baseline, "ratio": ratio, "target": TARGET}
    return {**line, **added, "met": ratio >= TARGET}


def main(path):
    with open(path) as file:
        lines = json.load(file)
    lines += [against_topk(line) for line in lines if line["id"] == "P7"]
    with open(path, "w") as file:
        json.dump(lines, file, indent=2)
        file.write("\n")


main(sys.argv[1])
