#!/usr/bin/env python3
"""Launches two programs in turn, many times each, and compares them."""

import sys

from gatherstats.cli.launch import launch

sys.exit(launch("alternate"))
