"""The registry of metrics: one entry is enough, names are found, and what a forecast cannot give is said."""

from decimal import Decimal

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from score_parts import draw, guess, guess_quantiles

from olinear.core import Batch, ConfigError, DataError, Point, Samples
from olinear.data.windows import Windows
from olinear.evaluation import (
    METRICS,
    Context,
    Metric,
    SeasonalScale,
    choose_metrics,
    evaluate,
    find_metric,
    last_value,
    score,
    tails,
)

WALK = torch.randn(60, 2, generator=torch.Generator().manual_seed(0)).cumsum(0)


def test_one_entry_is_in_every_evaluation(monkeypatch):
    bias = Metric("bias", "bias", "mean error", lambda case: case.mean(case.error), better="target", goal=0.0)
    monkeypatch.setitem(METRICS, "bias", bias)
    windows = Windows(WALK, 8, 4)
    scores = evaluate(last_value(4), windows)
    errors = [WALK[s + 7] - WALK[s + 8 : s + 12] for s in windows.starts]
    assert scores.bias == pytest.approx(float(torch.stack(errors).mean()), rel=1e-5)
    assert "bias" in evaluate(last_value(4), windows).by_series()[0]


@pytest.mark.parametrize("name", METRICS)
def test_every_entry_says_what_it_is(name):
    metric = METRICS[name]
    assert metric.name == name
    assert metric.label
    assert metric.about
    assert metric.measure.__doc__
    assert metric.needs <= {"point", "quantiles", "past"}
    assert metric.better in ("lower", "higher", "target")
    if metric.each_level:
        member = metric.at(80)
        assert (member.name, member.label) == (f"{name}_80", f"{metric.label} 80 %")
        assert member.goal == (0.8 if metric.better == "target" else None)
        assert not member.each_level


def test_members_of_families_are_found_by_name():
    assert find_metric("coverage_80").goal == 0.8
    assert find_metric("width_97.5").name == "width_97.5"
    assert list(choose_metrics(["mse", "width"], [50, 80])) == ["mse", "width_50", "width_80"]
    assert set(choose_metrics(None, [90])) == {*METRICS, "coverage_90", "width_90"} - {"coverage", "width"}


@pytest.mark.parametrize("name", ["", "mape", "coverage_", "coverage_x", "mse_80"])
def test_an_unknown_metric_is_answered_by_those_there_are(name):
    with pytest.raises(ConfigError, match=rf"no metric is called '{name}': there are mse, mae, .*coverage_<level>"):
        find_metric(name)


def test_a_family_needs_levels():
    with pytest.raises(ConfigError, match="coverage needs a level: ask for coverage_80, or give levels"):
        choose_metrics(["coverage"])


@given(st.integers(1, 99))
def test_the_bounds_of_an_interval_are_the_quantiles_as_they_are_written(level):
    """So that a model's own quantiles are found and not interpolated."""
    assert tails(level) == tuple(float(Decimal(part) / 200) for part in (100 - level, 100 + level))


@pytest.mark.parametrize("level", [0, 100, -5, 120])
def test_a_level_is_between_0_and_100(level):
    batch = draw(1, 2, 1)
    with pytest.raises(ConfigError, match="between 0 and 100 per cent"):
        score([(guess_quantiles(batch), batch)], None, Context(levels=(level,)))


def test_points_have_no_scores_of_quantiles():
    """Left out where all are asked for, refused where one is asked for by name."""
    batch = draw(2, 3, 2)
    pairs = [(Point(guess(batch)), batch)]
    assert not {"wql", "crps", "coverage_80"} & set(score(pairs, None, Context(levels=(80,))))
    with pytest.raises(ConfigError, match="wql needs quantiles, and these forecasts are points"):
        score(pairs, ["mse", "wql"])


def test_quantiles_and_samples_are_scored_alike():
    """Many samples have the quantiles they were drawn from; the point is the median."""
    batch = draw(3, 2, 2)
    paths = guess(batch) + torch.linspace(-3, 3, 601, dtype=torch.float64)[:, None, None, None]
    sampled = Samples(paths)
    context = Context(levels=(80,))
    found = score([(sampled, batch)], None, context)
    assert set(found) == set(choose_metrics(None, (80,)))
    assert found.width_80 == pytest.approx(4.8)
    assert found.mse == pytest.approx(score([(Point(guess(batch)), batch)]).mse)


# The engine


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(0, 99))
def test_batches_do_not_matter(sizes, seed):
    """One pass over pieces gives what all at once gives."""
    batch = draw(sum(sizes), 3, 2, seed, 0.2)
    forecast = guess(batch)
    parts = [part.split(sizes) for part in (forecast, batch.past, batch.targets)]
    pieces = [(Point(f), Batch(x, y)) for f, x, y in zip(*parts, strict=True)]
    whole = score([(Point(forecast), batch)])
    apart = score(pieces)
    assert apart.windows == whole.windows == sum(sizes)
    assert dict(apart) == pytest.approx(dict(whole), rel=1e-12, nan_ok=True)
    for one, other in zip(apart.by_series(), whole.by_series(), strict=True):
        assert dict(one) == pytest.approx(dict(other), rel=1e-12, nan_ok=True)


def test_scores_are_a_mapping_and_have_attributes():
    scores = evaluate(last_value(4), Windows(WALK, 8, 4), metrics=["mae", "mse"])
    assert list(scores) == ["mae", "mse"]
    assert scores.mse == scores["mse"]
    assert len(scores.by_series()) == 2
    assert np.mean([own.mae for own in scores.by_series()]) == pytest.approx(scores.mae)
    assert repr(scores) == f"Scores(mae={scores.mae:.6g}, mse={scores.mse:.6g}, windows=49)"
    with pytest.raises(AttributeError, match="no score called 'r2': there are mae, mse"):
        _ = scores.r2


def test_small_errors_are_not_lost_among_many():
    """Sums in float64: ten million float32 values of 0.1 have a mean of 0.1."""
    ones = torch.full((1000, 1000, 10), 0.1)
    found = score([(Point(ones), Batch(ones[:, :1], torch.zeros_like(ones)))], ["mae"]).mae
    assert found == pytest.approx(float(torch.tensor(0.1)), rel=1e-12)


def test_nothing_to_score_is_an_error():
    with pytest.raises(DataError, match="no forecasts to score"):
        score([])
    gone = Windows(WALK, 8, 4, targets=WALK * torch.nan)
    with pytest.raises(DataError, match="every target of these windows is missing"):
        evaluate(last_value(4), gone)


def test_shapes_must_agree():
    batch = draw(2, 3, 2)
    with pytest.raises(DataError, match=r"the forecast must have shape \(2, 3, 2\), found \(2, 3, 1\)"):
        score([(Point(guess(batch)[..., :1]), batch)])
    with pytest.raises(DataError, match=r"the scale must have 2 series, found shape \(1,\)"):
        score([(Point(guess(batch)), batch)], None, Context(scale=SeasonalScale.of(np.arange(9.0)[:, None])))
