#!/usr/bin/env python3
"""Prints the blog post's table, and verdicts, from results files."""

import sys

from gatherstats.cli.launch import launch

sys.exit(launch("blog_table"))
