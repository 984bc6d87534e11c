"""Statistics: drift, medians, tests, intervals and verdicts, and the words for them.

May import: text, data
"""
