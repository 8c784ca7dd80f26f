"""Weighted label spreading: whom the karate club follows, its instructor (0) or its president (33)."""

from pathlib import Path

import numpy as np

import gpop


class LabelSpreading(gpop.Program):
    leaning = gpop.VertexField(np.float64)  # below 0: to the first leader
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
    program = LabelSpreading(gpop.load(Path(__file__).parents[1] / "data/karate.txt", weighted=True))
    program.ties = np.bincount(program.graph.indices, program.graph.weights, program.graph.n)
    program.leaning[[0, 33]], program.ties[[0, 33]] = (-1, 1), 0
    gpop.run(program, iterations=100)
    for leader, camp in (("instructor", program.leaning < 0), ("president", program.leaning > 0)):
        print(f"with the {leader}: {', '.join(map(str, np.flatnonzero(camp)))}")
