"""The system's side of a script: streams, signals, files that are never half written, other
programs.

May import: text
"""
