"""Two sides row by row: matching, verdicts, how they are shown, series of launches, the self-check.

May import: text, data, process, stats, cli
"""
