"""The blog post's table: its cells and notes, where the gain comes from, two architectures.

May import: text, data, process, stats, cli
"""
