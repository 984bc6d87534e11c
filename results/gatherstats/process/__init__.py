"""What a script needs of the system: streams, signals, files that are whole, other programs.

May import: text
"""
