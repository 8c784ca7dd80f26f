"""Bytes that each way of communicating moves, as functions of plain numbers."""
