"""The learning rate and schedule of each arm of a study, chosen by validation alone."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from olinear.bench.spec.identity import JobKey
from olinear.bench.spec.jobs import expand
from olinear.bench.spec.search import Arm, Trial, find_arms, make_trials
from olinear.bench.spec.study import Study
from olinear.bench.store.rows import Row


@dataclass(frozen=True)
class Choice:
    """The trial of an arm with the lowest validation loss."""

    arm: Arm
    trial: Trial
    loss: float
    trials: int

    def jobs(self, seeds: int) -> list[JobKey]:
        """The arm with all of its epochs; a rate and schedule that it has anyway go unsaid."""
        return expand([self.arm.key], str(self.trial.variant), seeds, self.arm.model)


def choose_rates(study: Study, rows: Iterable[Row]) -> dict[Arm, Choice]:
    """By arm, where all trials are done; the scores on test windows, which rows have too, are not looked at."""
    losses = {row.job: row.validation_loss for row in rows}
    chosen = {}
    for arm in find_arms(study):
        trials = make_trials(study, arm)
        if all(trial.job in losses for trial in trials):
            by_trial = {trial: _known(losses[trial.job]) for trial in trials}
            best = min(by_trial, key=by_trial.__getitem__)
            if by_trial[best] < math.inf:
                chosen[arm] = Choice(arm, best, by_trial[best], len(trials))
    return chosen


def _known(loss: float | None) -> float:
    """A trial that failed is no choice."""
    return math.inf if loss is None or math.isnan(loss) else loss


def choice_lines(study: Study, chosen: dict[Arm, Choice]) -> list[str]:
    """What each arm was given, and which arms still need trials."""
    lines = []
    for choice in chosen.values():
        training = {part.name: part.value for part in choice.trial.variant.parts}
        lines.append(
            f"{choice.arm}: rate {training['lr']}, {training['schedule']}, of {choice.trials} trials the one with the "
            f"lowest validation loss, {choice.loss:.4g}."
        )
    missing = [str(arm) for arm in find_arms(study) if arm not in chosen]
    return lines + ([f"Not searched yet: {', '.join(missing)}."] if missing else [])
