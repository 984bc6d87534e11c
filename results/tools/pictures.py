#!/usr/bin/env python3
"""Makes the pictures of the README from runs that were kept."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gatherstats.cli.launch import launch  # noqa: E402

sys.exit(launch("pictures"))
