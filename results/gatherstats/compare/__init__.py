"""Comparisons row by row: matching, verdicts, their forms, series of launches, the self-check.

May import: text, data, process, stats, cli
"""
