#!/usr/bin/env python3
"""Gives a verdict for each pair of rows."""

import sys

from gatherstats.cli.launch import launch

sys.exit(launch("compare"))
