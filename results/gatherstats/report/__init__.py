"""One HTML page of everything, and the pictures that are drawn like its plots.

May import: text, drawing, data, process, stats, cli, crossover, blog
"""
