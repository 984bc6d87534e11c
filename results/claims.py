#!/usr/bin/env python3
"""Says whether public claims about gathering and copying hold on this machine."""

import sys

from gatherstats.cli.launch import launch

sys.exit(launch("claims"))
