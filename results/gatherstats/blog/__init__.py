"""The blog post's table: its cells and notes, the account of the gain, two architectures.

May import: text, data, process, stats, cli
"""
