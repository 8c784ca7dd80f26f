"""Graph, and what makes one from edges or from another graph."""
