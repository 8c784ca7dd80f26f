"""Weighted label spreading: who in Les Misérables leans to Valjean (10) and who to Enjolras (58)."""

from pathlib import Path

import numpy as np

import gpop


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


if __name__ == "__main__":
    program = LabelSpreading(gpop.load(Path(__file__).parents[1] / "data/lesmis.bin", weighted=True))
    program.ties = np.bincount(program.graph.indices, program.graph.weights, program.graph.n)
    program.leaning[[10, 58]], program.ties[[10, 58]] = (-1, 1), 0
    gpop.run(program, iterations=100)
    for leader, camp in (("Valjean", program.leaning < 0), ("Enjolras", program.leaning > 0)):
        print(f"{camp.sum()} lean to {leader}: {', '.join(map(str, np.flatnonzero(camp)))}")
