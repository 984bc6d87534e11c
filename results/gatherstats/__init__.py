"""The library behind the scripts in results/: reads benchmark results and judges them.

Ten packages, each of which says what lives there and which of the others it may import. All may import
gatherstats.errors.
"""
