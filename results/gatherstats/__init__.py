"""The library behind the scripts in results/: reads benchmark results and judges them."""
