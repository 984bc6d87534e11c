#!/usr/bin/env python3
"""Prints the blog's table for two architectures, from alternate.py's launches."""

import sys

from gatherstats.cli.launch import launch

sys.exit(launch("cross_table"))
