"""What the command lines share: starting a command, its options, and the files it reads.

May import: text, data, process, stats
"""
