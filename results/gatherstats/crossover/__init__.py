"""The fastest way of writing by size and number of buffers: the map, the advice, and their forms.

May import: text, drawing, data, process, stats, cli
"""
