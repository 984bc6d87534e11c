#!/usr/bin/env python3
"""Checks how small a difference this machine can detect."""

import sys

from gatherstats.cli.launch import launch

sys.exit(launch("selfcheck"))
