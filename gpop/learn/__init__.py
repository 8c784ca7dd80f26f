"""Decision trees from measured iterations: samples, seeded splits, training (scikit-learn), evaluation."""
