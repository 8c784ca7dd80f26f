"""What is decided once before a run, and what a run reports."""
