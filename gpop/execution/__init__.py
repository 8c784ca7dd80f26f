"""gpop.run: one entry for every program, mode and target."""
