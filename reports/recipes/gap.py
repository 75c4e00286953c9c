"""Prints median and quartiles of f - f* over seeds, at the last iteration with a loss, by method."""
import sys

import pandas

table = pandas.read_csv(sys.argv[1], low_memory=False)
method = [name for name in table.columns if name.startswith("p_")]
seen = table.dropna(subset=["loss_gap"])
last = seen.loc[seen.groupby("run_id")["iteration"].idxmax()]
quartiles = last.groupby(method, dropna=False)["loss_gap"].quantile([0.25, 0.5, 0.75])
print(quartiles.unstack().to_csv(), end="")
