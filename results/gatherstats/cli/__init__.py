"""The common part of all command lines: starting a command, its options, and its input files.

May import: text, data, process, stats
"""
