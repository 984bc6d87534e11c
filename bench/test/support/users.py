"""A second user for the tests, who owns nothing and has no rights but everybody's."""

import os

import machine

STRANGER = machine.STRANGER

needs_stranger = machine.needs(machine.second_user)


def become_stranger():
    os.setgroups([])
    os.setgid(STRANGER)
    os.setuid(STRANGER)
