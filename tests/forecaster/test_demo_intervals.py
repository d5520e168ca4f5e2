"""On real data nobody tuned for, intervals hold what they say."""

import olinear


def test_ninety_per_cent_intervals_hold_about_ninety_per_cent_of_unseen_values():
    """The last fifth of the embedded data: 85 to 95 % of all values, at least 80 % of every series'."""
    frame = olinear.load_demo()
    known = int(0.8 * len(frame))
    forecaster = olinear.Forecaster(24, 96, max_epochs=1, model_dim=32, progress=False).fit(frame[:known])
    result = forecaster.backtest(frame, windows=len(frame) - known - 23, stride=1, levels=[90])
    assert result.in_sample == 0
    assert 0.85 <= result.score(metric="coverage_90") <= 0.95
    for series in frame.columns[1:]:
        assert result.score(series=series, metric="coverage_90") >= 0.8, series
