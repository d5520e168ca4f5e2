"""The sign-flip test: right in the long run, blind to nothing it should see, and honest about overlapping windows."""

from itertools import product

import numpy as np
import pytest

from olinear.core.errors import OLinearError
from olinear.evaluation import holm, least_p, sign_flip_test


def overlapping(rng: np.random.Generator, windows: int, horizon: int) -> np.ndarray:
    """Errors as of neighbouring windows: each the mean over its horizon of noise that all share."""
    noise = rng.normal(size=windows + horizon - 1)
    return np.convolve(noise, np.ones(horizon) / horizon, "valid")


def test_by_hand():
    """Six blocks of two windows, all worse by different amounts: of 64 patterns two are as far out."""
    worse = np.repeat([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2)
    assert sign_flip_test(worse, np.zeros(12), 1) == 2 / 64
    one_better = worse * np.repeat([-1, 1, 1, 1, 1, 1], 2)
    means = [-1, 2, 3, 4, 5, 6]
    as_far = [signs for signs in product((-1, 1), repeat=6) if abs(np.dot(signs, means)) >= sum(means)]
    assert sign_flip_test(one_better, np.zeros(12), 1) == len(as_far) / 64


def test_it_is_wrong_as_often_as_it_says():
    """Two models of equal skill, windows overlapping: about one in twenty differences is called one at 5 %."""
    rng = np.random.default_rng(0)
    p = [sign_flip_test(overlapping(rng, 800, 24), overlapping(rng, 800, 24), 24) for _ in range(400)]
    assert np.mean(np.array(p) < 0.05) < 0.09


def test_a_test_of_single_windows_would_be_wrong_far_more_often():
    """Why blocks: the same differences taken for independent draws."""
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(200):
        difference = overlapping(rng, 800, 24) - overlapping(rng, 800, 24)
        wrong += abs(difference.mean()) > 1.96 * difference.std() / 800**0.5
    assert wrong > 80


def test_it_sees_a_difference():
    rng = np.random.default_rng(1)
    errors = overlapping(rng, 2785, 96)
    assert sign_flip_test(errors + 0.1 + 0.05 * rng.normal(size=2785), errors, 96) < 0.01


def test_sides_and_repetition():
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(2, 600))
    assert sign_flip_test(a, b, 5) == sign_flip_test(b, a, 5) == sign_flip_test(a, b, 5)
    assert sign_flip_test(a, a, 5) == 1.0


def test_the_least_p_is_that_of_the_most_one_sided_outcome():
    for windows in (0, 1, 12, 25, 100):
        one_sided = np.arange(1.0, windows + 1)
        assert sign_flip_test(one_sided, np.zeros(windows), 1) == pytest.approx(min(least_p(windows, 1), 1.0), abs=1e-3)
    assert least_p(12, 1) == 2 / 64
    assert least_p(1, 1) > 1


@pytest.mark.parametrize(
    ("errors", "others", "horizon", "reason"),
    [
        (np.ones((3, 2)), np.zeros((3, 2)), 1, r"one number a window for both models, found shapes \(3, 2\)"),
        (np.ones(30), np.zeros(29), 1, "one number a window for both models"),
        (np.array([np.nan, *np.ones(29)]), np.zeros(30), 1, "must be numbers"),
        (np.ones(30), np.zeros(30), 0, "horizon must be at least 1, found 0"),
    ],
)
def test_what_is_refused(errors, others, horizon, reason):
    """A missing error above all: it would make every difference look certain."""
    with pytest.raises(OLinearError, match=reason):
        sign_flip_test(errors, others, horizon)


def test_holm_by_hand():
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == pytest.approx({"a": 0.03, "c": 0.06, "b": 0.06})
    assert holm({"a": 0.6, "b": 0.9}) == {"a": 1.0, "b": 1.0}
    assert holm({}) == {}
