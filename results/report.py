#!/usr/bin/env python3
"""Makes one HTML file from results files, verdicts first, then their basis."""

import sys

from gatherstats.cli.launch import launch

sys.exit(launch("report"))
