"""HTML and SVG: markup that escapes all text, and the shapes and style sheet of every plot.

May import: text
"""
