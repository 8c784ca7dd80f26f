"""Modes, strategies, models to choose by, bytes that each way moves, choosers: functions of plain numbers."""
