"""Public claims, and whether a run bears them out.

May import: text, data, process, stats, cli
"""
