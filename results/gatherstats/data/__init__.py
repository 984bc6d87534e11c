"""What a results file says: its rows, their names, its context, and what may be compared with it.

May import: text
"""
