"""The content of a results file: its rows, their names, its context, and which files are
comparable.

May import: text
"""
