"""The scripts' commands, run in this process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gatherstats.cli.launch import run

RESULTS = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Command:
    """A command; its messages begin with `program`."""

    name: str

    @property
    def program(self) -> str:
        return f"{self.name}.py"

    @property
    def script(self) -> str:
        """The path of its script, to start it as users do."""
        return str(
            next(
                path
                for folder in (RESULTS, RESULTS / "tools")
                if (path := folder / self.program).exists()
            )
        )

    def main(self, arguments: Sequence[str]) -> int:
        """Run it and return its exit status; argparse raises SystemExit."""
        return run(self.name, list(arguments))


alternate = Command("alternate")
blog_table = Command("blog_table")
claims = Command("claims")
compare = Command("compare")
cross_table = Command("cross_table")
crossover = Command("crossover")
keep = Command("keep")
pictures = Command("pictures")
report = Command("report")
selfcheck = Command("selfcheck")
