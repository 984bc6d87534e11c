#!/usr/bin/env python3
"""Maps which of separate writes, gathering and copying wins."""

import sys

from gatherstats.cli.launch import launch

sys.exit(launch("crossover"))
