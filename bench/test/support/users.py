"""A second user for the tests, who owns nothing and has no rights but everybody's."""

import os

import pytest

STRANGER = 65534

needs_stranger = pytest.mark.skipif(
    os.geteuid() != 0, reason="a second user takes root"
)


def become_stranger():
    os.setgroups([])
    os.setgid(STRANGER)
    os.setuid(STRANGER)
