"""Prints median and quartiles of the final f - f* over seeds, by method; a run that diverged is a miss, infinite."""
import math
import sys

import pandas

runs = pandas.read_csv(sys.argv[1], float_precision="round_trip")  # else the last digits are lost
method = [name for name in runs.columns if name.startswith("p_")] or ["study"]
ended = runs[runs["status"].isin(["finished", "diverged"])].copy()
ended.loc[ended["status"] == "diverged", "final_loss_gap"] = math.inf
ended = ended.dropna(subset=["final_loss_gap"])
quartiles = ended.groupby(method, dropna=False)["final_loss_gap"].quantile([0.25, 0.5, 0.75])
# Between two misses, inf - inf would be no number.
print(quartiles.fillna(math.inf).unstack().to_csv(), end="")
