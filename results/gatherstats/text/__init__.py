"""Text, numbers and tables as people read them: nothing here knows what a benchmark is.

May import: nothing
"""
