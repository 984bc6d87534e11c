"""Models the time of writing a file: a cost for each byte, each folio and each call.

A folio is the page cache's unit: one page or many. The suite counts each row's bytes, folios and
calls; least squares of the relative errors gives the three costs, with Student's intervals from the
residuals.

A model can be wrong. So a fit of all other rows predicts each row. If more than one prediction in
ten is off by more than TOLERANCE, the model does not fit, and no conclusion is drawn from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from gatherstats.data.comparable import obstacles
from gatherstats.data.names import RowName, whole_number
from gatherstats.data.rows import SMALL_PHASE, Run, phases
from gatherstats.stats.medians import LEVEL
from gatherstats.stats.parts import Part
from gatherstats.stats.repetitions import Repetitions
from gatherstats.stats.samples import RowSample, measure

TOLERANCE = 0.1
"""The largest relative error of a right prediction."""

ENOUGH_RIGHT = 0.9
"""The share of right predictions that a model needs to fit."""

FEWEST_ROWS = 8
"""Fewest rows of a fit, which has three unknown costs."""

SPREAD = 1.2
"""The least ratio of the most folios per byte to the fewest: otherwise folios and bytes are collinear."""

WORST_CONDITION = 50.0
"""The largest condition number of the matrix with normalised columns: beyond it the costs are
not identifiable."""

UNITS = ("byte", "folio", "call")

STRATEGIES = ("pwrite", "write", "pwritev", "writev", "contiguous")
"""Strategies whose whole work the model counts; others copy too, or submit in other ways."""

WORK = ("strategy", "count", "size", "file_bytes", "threads")
"""The keys in which the rows of one fit may differ."""

OLD_PAGES = ("overwrite", "settle")
"""Ways of creating a file that write into existing pages: they add no folios."""


@dataclass(frozen=True)
class Prediction:
    """One row's time, and its prediction by a fit without it, in seconds."""

    name: RowName
    time_s: float
    predicted_s: float

    @property
    def off(self) -> float:
        """The relative error, negative for too low a prediction."""
        return self.predicted_s / self.time_s - 1

    @property
    def is_right(self) -> bool:
        return abs(self.off) <= TOLERANCE


@dataclass(frozen=True)
class Model:
    """A fit and its predictions.

    rest: the common part of its rows' names.
    units: the units with a cost: UNITS, or without "folio" if all folios have one size.
    costs: by phase ("" for all of them together), the cost of each unit in seconds.
    work: of each row, by name: how many of each of UNITS an operation has.
    predictions: each row by a fit of the others.
    """

    run: Run
    rest: tuple
    units: tuple[str, ...]
    costs: dict[str, tuple[Part, ...]]
    work: dict[str, np.ndarray]
    predictions: list[Prediction]

    @property
    def right(self) -> int:
        """The number of right predictions."""
        return sum(one.is_right for one in self.predictions)

    @property
    def fits(self) -> bool:
        """Whether the model is valid: nine in ten predictions are right, and no cost is negative."""
        known = self.costs[""]
        enough = self.right >= ENOUGH_RIGHT * len(self.predictions)
        return enough and all(cost.high_s > 0 for cost in known)

    def cost(self, unit: str, phase: str = "") -> Part | None:
        """Return the cost of one of `unit`, None if the fit does not have it."""
        costs = self.costs.get(phase)
        if costs is None or unit not in self.units:
            return None
        return costs[self.units.index(unit)]

    def predicted_s(self, work: np.ndarray, phase: str = "") -> float:
        """Return the predicted time of this work, in seconds."""
        columns = [UNITS.index(unit) for unit in self.units]
        costs = [cost.time_s for cost in self.costs[phase]]
        return float(np.dot(work[columns], costs))


def fit_models(run: Run, measured: Sequence[RowSample]) -> list[Model]:
    """Fit the models that a run's rows allow; none without counted folios.

    measured: all rows of the run, with drift removed.
    """
    by_rest: dict[tuple, list[tuple[RowSample, np.ndarray]]] = {}
    for one in measured:
        work = work_of(one)
        if work is not None and one.row.name.keys["strategy"] in STRATEGIES:
            by_rest.setdefault(one.row.name.without(*WORK), []).append((one, work))
    models = [_fit(run, rest, found) for rest, found in by_rest.items()]
    return [model for model in models if model is not None]


def models_of(runs: Sequence[Run]) -> list[Model]:
    """Fit the models of several runs; drift is removed only from runs that have rows for a fit."""
    found = []
    for run in runs:
        counted = [row for row in run.rows if "folios" in row.counters]
        if len(counted) >= FEWEST_ROWS:
            found += fit_models(run, measure(run.rows)[0])
    return found


def work_of(one: RowSample) -> np.ndarray | None:
    """Count the bytes, folios and calls of an operation on a new file without a sync; None if unknown."""
    row, keys = one.row, one.row.name.keys
    if row.name.scope != "file" or keys.get("sync") != "none" or row.failed:
        return None
    if keys.get("create") in OLD_PAGES or not isinstance(one.sample, Repetitions):
        return None
    length = whole_number(keys.get("file_bytes", ""))
    counts = [length, row.counter("folios"), row.counter("calls")]
    if None in counts or not one.centre_s:
        return None
    found = np.array(counts, dtype=float)
    return found if np.all(np.isfinite(found)) and np.all(found > 0) else None


def applies(model: Model, run: Run, name: RowName) -> bool:
    """Whether a model predicts the writes of a row of another run on the same machine."""
    left_out = (*WORK, "create", "keep")
    known = [(k, v) for k, v in model.rest[1] if k not in left_out]
    others = name.without(*left_out)
    alike = (model.rest[0], tuple(known)) == others[:2]
    return model.fits and alike and not obstacles([model.run], [run])


def is_created_alike(model: Model, name: RowName) -> bool:
    """Whether a row creates and closes its file as the model's rows do."""
    return model.rest[:2] == name.without(*WORK)[:2]


def unseen(model: Model, run: Run, measured: Sequence[RowSample]) -> list[Prediction]:
    """Predict the rows of another run: the whole time, or else the writes alone."""
    found = []
    for one in measured:
        work = work_of(one)
        if work is None or one.row.name.keys["strategy"] not in STRATEGIES:
            continue
        if not applies(model, run, one.row.name):
            continue
        whole = is_created_alike(model, one.row.name)
        phase = "" if whole else "write"
        time_s = one.centre_s if whole else phases(one.row).get("write")
        if time_s and phase in model.costs:
            said = model.predicted_s(work, phase)
            found.append(Prediction(one.row.name, time_s, said))
    return found


def _fit(
    run: Run, rest: tuple, found: Sequence[tuple[RowSample, np.ndarray]]
) -> Model | None:
    if len(found) < FEWEST_ROWS:
        return None
    work = np.array([counts for _, counts in found])
    times_s = np.array([one.centre_s for one, _ in found])
    folios_a_byte = work[:, 1] / work[:, 0]
    is_told = folios_a_byte.max() >= SPREAD * folios_a_byte.min()
    units = UNITS if is_told else ("byte", "call")
    columns = work[:, [UNITS.index(unit) for unit in units]]
    scaled = columns / times_s[:, np.newaxis]
    if not np.all(np.isfinite(scaled)) or _condition(scaled) > WORST_CONDITION:
        return None
    costs = {"": _costs(scaled, np.ones(len(found)))}
    known = [phases(one.row) for one, _ in found]
    for phase in ("write", "close"):
        if all(
            phase in times and times[phase] > SMALL_PHASE * t
            for times, t in zip(known, times_s)
        ):
            shares = np.array([times[phase] for times in known]) / times_s
            costs[phase] = _costs(scaled, shares)
    predictions = []
    for i, (one, _) in enumerate(found):
        others = np.arange(len(found)) != i
        solved = np.linalg.lstsq(scaled[others], np.ones(len(found) - 1), rcond=None)[0]
        said = float(columns[i] @ solved)
        predictions.append(Prediction(one.row.name, float(times_s[i]), said))
    by_name = {one.row.name.text: counts for one, counts in found}
    return Model(run, rest, units, costs, by_name, predictions)


def _condition(scaled: np.ndarray) -> float:
    """Return the condition number of the matrix with normalised columns."""
    even = scaled / scaled.max(axis=0)
    return float(np.linalg.cond(even / np.linalg.norm(even, axis=0)))


def _costs(scaled: np.ndarray, target: np.ndarray) -> tuple[Part, ...]:
    """Solve target = scaled @ costs by least squares; each cost has an interval."""
    costs = np.linalg.lstsq(scaled, target, rcond=None)[0]
    freedom = len(target) - scaled.shape[1]
    variance = float(np.sum((target - scaled @ costs) ** 2)) / freedom
    errors = np.sqrt(variance * np.diag(np.linalg.inv(scaled.T @ scaled)))
    reach = float(stats.t.ppf((1 + LEVEL) / 2, freedom)) * errors
    return tuple(
        Part(float(c), float(c - r), float(c + r)) for c, r in zip(costs, reach)
    )
