"""Algorithms as a generalised product of a sparse matrix and a vector: a second front on the same engine.

An iteration is *SPMV*, in which a row visits its active neighbours, ``y[r] = Reduce(y[r], Gather(x[l],
G[r][l]))``, and *APPLY*, in which ``Update`` makes of y what the row's properties become; a row whose
properties change is active in the next one. PREPROCESS is what a `MatrixProgram` does when it is made: the
matrix is turned as ``Edges_type`` says and the properties are filled. Paper: H. Yang, H. Su, Q. Lan, M.
Wen, C. Zhang, "HPGraph: high-performance graph analytics with productivity on the GPU" (2018);
`gpop.layout.hyb` has its matrix.
"""

from gpop.matrix.front import MatrixProgram as MatrixProgram
