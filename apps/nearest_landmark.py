"""Which of several landmarks is nearest to each vertex, and how far: one search from all of them.

A message carries both: distance above, landmark below. Run: python apps/nearest_landmark.py
"""

from pathlib import Path

import numpy as np

import gpop


class NearestLandmark(gpop.Program):
    best = gpop.VertexField(np.uint64, 2**63 - 1)  # far, with room for a weight
    combine = "min"
    inactive_message = gpop.HARMLESS

    def scatterFunc(self, node):
        return self.best[node]

    def applyWeight(self, value, weight):
        return value + (np.uint64(weight) << np.uint64(32))

    def gatherFunc(self, value, node):
        if value < self.best[node]:
            self.best[node] = value
            return True
        return False


if __name__ == "__main__":
    program = NearestLandmark(gpop.load(Path(__file__).parents[1] / "data/road.bin", weighted=True))
    landmarks = np.linspace(0, program.graph.n, 5, endpoint=False).astype(np.uint32)
    program.best[landmarks] = landmarks
    gpop.run(program, frontier=landmarks, interleave=True)
    landmark, distance = program.best.astype("<u8").view("<u4").reshape(-1, 2).T
    for place in landmarks:
        mine = distance[(landmark == place) & (distance < 2**31 - 1)]
        print(f"landmark {place}: nearest to {mine.size} vertices, on average {mine.mean():.0f} away")
