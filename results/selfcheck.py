#!/usr/bin/env python3
"""Is this machine good enough to be believed?"""

import sys

from gatherstats.cli.launch import launch

sys.exit(launch("selfcheck"))
