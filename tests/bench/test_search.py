"""A rate and schedule for each arm: tried briefly, chosen by validation alone, and named in the row."""

import math
from dataclasses import replace

import pytest
from bench_parts import result

from olinear.bench.read.comparison import compare
from olinear.bench.read.search import choice_lines, choose_rates
from olinear.bench.spec.identity import JobKey, TaskKey
from olinear.bench.spec.jobs import recipe
from olinear.bench.spec.search import PART, RATES, SCHEDULES, Arm, find_arms, make_trials
from olinear.bench.spec.study import Place, find_study
from olinear.bench.store.results import failed
from olinear.bench.store.rows import Row

KEY = TaskKey("ETTh1", 96, 96)
STUDY = find_study("ortho-plugin").model_copy(
    update={"on": (Place(dataset="ETTh1", lookback=96, horizons=(96,)),), "models": ("RLinear",)}
)
PLAIN, PLUGGED = find_arms(STUDY)


def trial_rows(arm: Arm, best: int, loss: float = 0.4) -> list[Row]:
    """The trial of that number has the lowest validation loss, and the worst test score of all."""
    return [
        result(trial.job, mse=9.0 if place == best else 0.1, validation_loss=loss + (place != best))
        for place, trial in enumerate(make_trials(STUDY, arm))
    ]


def test_the_arms_are_all_that_a_study_compares():
    assert [str(arm) for arm in (PLAIN, PLUGGED)] == [
        "RLinear Vanilla on ETTh1 96->96",
        "RLinear +OrthoTrans on ETTh1 96->96",
    ]
    hosts = find_study("ortho-hosts")
    assert len(find_arms(hosts)) == 3 * (3 + 2)  # only PatchTST has patches


@pytest.mark.parametrize("arm", [PLAIN, PLUGGED])
def test_a_trial_changes_rate_schedule_and_epochs_alone(arm):
    plain = recipe(JobKey(KEY, "RLinear", STUDY.variant(arm.method)))
    trials = [recipe(trial.job) for trial in make_trials(STUDY, arm)]
    own = plain.training.learning_rate
    assert own not in RATES
    assert {(trial.training.learning_rate, trial.training.schedule) for trial in trials} == {
        (rate, schedule) for rate in (*RATES, own) for schedule in SCHEDULES
    }
    for trial in trials:
        assert trial.training.max_epochs == math.ceil(plain.training.max_epochs / PART)
        changed = {name: getattr(trial.training, name) for name in ("learning_rate", "schedule", "max_epochs")}
        assert trial == replace(plain, training=plain.training.model_copy(update=changed))
    assert {trial.job.seed for trial in make_trials(STUDY, arm)} == {2023}


def test_validation_chooses_and_test_scores_do_not():
    rows = [*trial_rows(PLAIN, 0), *trial_rows(PLUGGED, 5)]
    chosen = choose_rates(STUDY, rows)
    assert [make_trials(STUDY, arm).index(choice.trial) for arm, choice in chosen.items()] == [0, 5]
    turned = [replace(row, scores={"mse": 10 - row.scores["mse"], "mae": 1.0}) for row in rows]
    assert choose_rates(STUDY, turned) == chosen


def test_an_arm_waits_for_all_of_its_trials_and_a_failed_one_is_no_choice():
    rows = trial_rows(PLAIN, 3)
    assert choose_rates(STUDY, rows[1:]) == {}
    rows[3] = failed(rows[3].job, "it diverged")
    (choice,) = choose_rates(STUDY, rows).values()
    assert choice.trial == make_trials(STUDY, PLAIN)[0]
    assert choose_rates(STUDY, [failed(row.job, "it diverged") for row in rows]) == {}


def test_the_rows_to_compare_name_what_was_chosen():
    """RLinear's own rate is 0.005, its schedule type1: what is its own goes unsaid."""
    chosen = choose_rates(STUDY, [*trial_rows(PLAIN, 8), *trial_rows(PLUGGED, 5)])
    plain, plugged = (choice.jobs(2) for choice in chosen.values())
    assert plain == [JobKey(KEY, "RLinear", seed=seed) for seed in (2023, 2024)]
    assert [str(job.variant) for job in plugged] == 2 * ["ortho-plugin/+OrthoTrans,lr=0.001,schedule=cosine"]
    variants = {arm: choice.jobs(1)[0].variant for arm, choice in chosen.items()}
    rows = [result(job, mse) for jobs, mse in ((plain, 0.38), (plugged, 0.36)) for job in jobs]
    rows.append(result(JobKey(KEY, "RLinear", STUDY.variant("+OrthoTrans")), 0.1))  # of another rate
    (found,) = compare(STUDY, rows, lambda *arm: variants.get(arm))
    assert [score.mse for score in found.scores] == pytest.approx([0.38, 0.36])
    (alone,) = compare(STUDY, rows, lambda *arm: None)
    assert alone.methods == 0


def test_what_was_chosen_in_words():
    lines = choice_lines(STUDY, choose_rates(STUDY, trial_rows(PLUGGED, 5)))
    assert lines == [
        "RLinear +OrthoTrans on ETTh1 96->96: rate 0.001, cosine, of 10 trials the one with the lowest validation "
        "loss, 0.4.",
        "Not searched yet: RLinear Vanilla on ETTh1 96->96.",
    ]
