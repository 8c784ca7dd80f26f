"""Graphs from and to the objects of other libraries, one file per library; `Graph` has the methods."""
