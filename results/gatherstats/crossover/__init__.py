"""Which way of writing wins over size and number: the map, the advice, and their pictures.

May import: text, data, process, stats, cli
"""
