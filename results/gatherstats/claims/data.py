"""Gives the findings on public claims to programs, as a line of JSON."""

from __future__ import annotations

from collections.abc import Sequence

from gatherstats.claims.claims import Result
from gatherstats.data.environment import describe
from gatherstats.data.rows import Run
from gatherstats.text.strict_json import dumps

FORMAT = "gatherbench-claims"
VERSION = 1


def as_json(run: Run, results: Sequence[Result]) -> str:
    """Format all findings as one line of strict JSON. Keys are only ever added."""
    claims = [
        {
            "claim": result.claim.claim,
            "source": result.claim.source,
            "note": result.claim.note,
            "findings": {t: finding.value for t, finding in result.findings.items()},
            "missing": result.missing,
            "where": result.claim.where,
            "elsewhere": result.elsewhere,
            "checks": [
                {
                    "target": target,
                    "row": one.check.row,
                    "against": one.check.against,
                    "start": one.check.start,
                    "relation": one.check.relation,
                    "claimed": one.check.ratio,
                    "finding": one.finding.value,
                    "value": one.value,
                    "low": one.low,
                    "high": one.high,
                    "as_claimed": one.is_as_claimed,
                    "problem": one.problem,
                }
                for target, checks in result.by_target.items()
                for one in checks
            ],
        }
        for result in results
    ]
    return dumps(
        {
            "format": FORMAT,
            "version": VERSION,
            "path": run.path,
            "environment": dict(describe(run)),
            "claims": claims,
        }
    )
