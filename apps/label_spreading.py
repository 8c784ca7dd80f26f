"""
Who leans to whom
=================

Weighted label spreading: who in Les Misérables leans to Valjean (10) and who to Enjolras (58). Everybody
else leans as their company does, those with whom they appear often more than others.
Run: ``python apps/label_spreading.py``
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import gpop

# %%
# ``applyWeight`` says what becomes of a message on an edge, ``filterFunc`` what a vertex does when it has
# heard all of them.


class LabelSpreading(gpop.Program):
    leaning = gpop.VertexField(np.float64)  # -1 is one leader, 1 the other
    pull = gpop.VertexField(np.float64)
    ties = gpop.VertexField(np.float64)  # sum of its weights; 0 for a leader, who does not move
    all_active = True

    def scatterFunc(self, node):
        return self.leaning[node]

    def applyWeight(self, value, weight):
        return value * weight

    def gatherFunc(self, value, node):
        self.pull[node] += value
        return True

    def filterFunc(self, node):
        if self.ties[node] > 0:
            self.leaning[node] = self.pull[node] / self.ties[node]
        self.pull[node] = 0
        return True


# %%
# Every vertex is active, so the run has as many iterations as it is given.
if __name__ == "__main__":
    here = sys.argv[0] if "__file__" in globals() else "notebook"
    program = LabelSpreading(gpop.load(Path(here).resolve().parents[1] / "data/lesmis.bin", weighted=True))
    program.ties = np.bincount(program.graph.indices, program.graph.weights, program.graph.n)
    program.leaning[[10, 58]], program.ties[[10, 58]] = (-1, 1), 0
    gpop.run(program, iterations=100)
    for leader, camp in (("Valjean", program.leaning < 0), ("Enjolras", program.leaning > 0)):
        print(f"{camp.sum()} lean to {leader}: {', '.join(map(str, np.flatnonzero(camp)))}")

# %%
# From one leader to the other, in the order of their leaning.
if __name__ == "__main__" and find_spec("matplotlib"):
    from matplotlib import pyplot as plt

    leaning = np.sort(program.leaning)
    figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
    axes.bar(range(len(leaning)), leaning, color=np.where(leaning < 0, "C0", "C1"))
    axes.axhline(0, color="0.5", lw=0.8)
    axes.set(xlabel="characters, in order", ylabel="Valjean   …   Enjolras", xticks=[])
