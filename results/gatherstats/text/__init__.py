"""Text, numbers and tables as people read them. Nothing here knows about benchmarks.

May import: nothing
"""
