#!/usr/bin/env python3
"""One HTML file from results files, verdicts first, then what they rest on."""

import sys

from gatherstats.cli.launch import launch

sys.exit(launch("report"))
