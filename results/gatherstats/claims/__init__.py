"""Public claims, checked against a run.

May import: text, data, process, stats, cli
"""
