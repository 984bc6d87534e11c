#!/usr/bin/env python3
"""Checks public claims about gathering and copying on this machine."""

import sys

from gatherstats.cli.launch import launch

sys.exit(launch("claims"))
