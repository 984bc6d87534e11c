#!/usr/bin/env python3
"""Which of separate writes, gathering and copying wins, as a map."""

import sys

from gatherstats.cli.launch import launch

sys.exit(launch("crossover"))
