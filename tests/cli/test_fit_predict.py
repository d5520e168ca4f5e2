"""From a table to a forecast: fit, predict and backtest as a user types them."""

import io

import numpy as np
import pandas as pd
import pytest
from cli_parts import SMALL, call, done, listing, read_csv, refused, strict_json, to_long, waves

from olinear.forecaster import Forecaster

PNG = b"\x89PNG"


# The whole walk


@pytest.mark.parametrize("layout", ["wide", "long"])
@pytest.mark.parametrize("ending", ["csv", "parquet", "csv.gz"])
def test_from_a_table_to_a_forecast(tmp_path, ending, layout):
    """Fit, predict, backtest, inspect; every kind of file in and out gives the numbers Python gives."""
    frame = waves() if layout == "wide" else to_long(waves())
    path, folder = tmp_path / f"data.{ending}", tmp_path / "model"
    frame.to_parquet(path) if ending == "parquet" else frame.to_csv(path, index=False)

    fitted = done("fit", path, "--horizon", 4, "--out", folder, *SMALL)
    assert "parameters" in fitted.out
    assert f"saved to {folder}" in fitted.err
    python = Forecaster(4, 12, model_dim=8, max_epochs=1, progress=False).fit(frame).predict(levels=[80, 95])

    printed = read_csv(done("predict", folder).out, "time" if layout == "wide" else "ds")
    pd.testing.assert_frame_equal(printed, python, check_dtype=False)
    for name in ("forecast.csv", "forecast.parquet"):
        assert "4 steps of 3 series written" in done("predict", folder, path, "--out", tmp_path / name).err
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "forecast.parquet"), python, check_dtype=False)
    assert (tmp_path / "forecast.csv").read_text() == done("predict", folder).out

    tested = done("backtest", folder, path, "--windows", 3)
    assert "OLinear" in tested.out
    assert "seasonal naive" in tested.out
    assert "3 of 3 windows lie in the rows the model was fitted on" in tested.err
    assert "olinear" not in done("inspect", path).err
    assert "validation loss" in done("inspect", folder).out


def test_new_rows_need_no_fit(model, tmp_path):
    waves(170)[100:].to_csv(tmp_path / "new.csv", index=False)
    answer = read_csv(done("predict", model, tmp_path / "new.csv").out)
    assert answer["time"].tolist() == pd.date_range("2024-01-08 02:00", periods=4, freq="h").tolist()
    expected = Forecaster.load(model).predict(waves(170), levels=[80, 95])
    np.testing.assert_allclose(answer.drop(columns="time"), expected.drop(columns="time"), rtol=1e-12)


def test_pipes_in_and_out(tmp_path, data):
    """`-` reads standard input; standard output is a clean table and everything said goes to standard error."""
    folder = tmp_path / "model"
    gaps = waves()
    gaps.loc[[20, 21], "b"] = np.nan
    content = gaps.drop(index=50).to_csv(index=False).encode()
    fitted = done("fit", "-", "--horizon", 4, "--out", folder, *SMALL, stdin=content)
    assert "note: 1 rows are missing from the h grid" in fitted.err
    assert "note: 5 values (1.1%) are missing" in fitted.err
    predicted = done("predict", folder, "-", "--out", "-", stdin=content)
    assert predicted.out.startswith("time,a,a-lo-80,a-hi-80,a-lo-95,a-hi-95,b,")
    assert read_csv(predicted.out).shape == (4, 16)
    assert "note: 1 rows are missing" in predicted.err
    assert "OLinear" in done("backtest", folder, "-", stdin=content).out
    assert "frequency" in done("inspect", "-", stdin=content).out


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_other_separators_and_a_byte_order_mark(tmp_path, model, separator):
    content = "\ufeff" + waves().to_csv(index=False, sep=separator)
    answer = done("predict", model, "-", stdin=content.encode())
    assert answer.out == done("predict", model).out


def test_columns_are_named_once(tmp_path):
    """At fit; predict and backtest, which have no such option, remember."""
    data = waves().rename(columns={"time": "t"}).assign(t=np.arange(150))
    data.to_csv(tmp_path / "wide.csv", index=False)
    done("fit", tmp_path / "wide.csv", "-h", 4, "--time", "t", "--out", tmp_path / "wide", *SMALL)
    assert done("predict", tmp_path / "wide", tmp_path / "wide.csv").out == done("predict", tmp_path / "wide").out

    named = to_long(waves()).set_axis(["when", "who", "v"], axis=1)
    named.to_csv(tmp_path / "long.csv", index=False)
    names = ["--time", "when", "--id", "who", "--value", "v"]
    done("fit", tmp_path / "long.csv", "-h", 4, *names, "--out", tmp_path / "long", *SMALL)
    assert done("predict", tmp_path / "long", tmp_path / "long.csv").out == done("predict", tmp_path / "long").out
    done("backtest", tmp_path / "long", tmp_path / "long.csv")


# predict


def test_levels_are_chosen(model):
    assert list(read_csv(done("predict", model, "--levels", "50").out))[:4] == ["time", "a", "a-lo-50", "a-hi-50"]
    assert list(read_csv(done("predict", model, "--levels", "").out)) == ["time", "a", "b", "c"]
    assert "a-hi-98" in read_csv(done("predict", model, "--levels", " 1, 98 ").out)
    assert "ask for at most 98 %" in refused("predict", model, "--levels", "99")  # 90 values were calibrated on


def test_horizons(model):
    """Shorter cuts, longer needs --recursive and has no intervals, which a note says."""
    whole = done("predict", model).out
    assert done("predict", model, "--horizon", 2).out == "".join(whole.splitlines(keepends=True)[:3])
    assert "recursive" in refused("predict", model, "--horizon", 9, "--levels", "")
    longer = done("predict", model, "--horizon", 9, "--recursive")
    assert "no intervals beyond" in longer.err
    table = read_csv(longer.out)
    assert table.shape == (9, 4)
    np.testing.assert_allclose(table[:4].drop(columns="time"), read_csv(whole)[["a", "b", "c"]], rtol=1e-12)


@pytest.mark.parametrize("horizon", [[], ["--horizon", 4], ["--horizon", 2]])
def test_recursive_keeps_the_intervals_it_can(model, horizon):
    """Within the trained horizon nothing feeds on forecasts: the intervals are as good as ever, and no note is due."""
    answer = done("predict", model, "--recursive", *horizon)
    assert answer.out == done("predict", model, *horizon).out
    assert "a-lo-80" in answer.out
    assert answer.err == ""


def test_a_forecast_for_machines(model, tmp_path):
    records = strict_json(done("predict", model, "--json").out)
    assert [record["time"] for record in records] == [f"2024-01-07 {hour:02d}:00:00" for hour in (6, 7, 8, 9)]
    assert records[0].keys() >= {"a", "a-lo-80", "c-hi-95"}
    both = done("predict", model, "--json", "--out", tmp_path / "f.csv")
    assert strict_json(both.out) == records
    assert read_csv((tmp_path / "f.csv").read_text())["a"][0] == pytest.approx(records[0]["a"])


def test_a_picture(model, tmp_path):
    outcome = done("predict", model, "--plot", tmp_path / "f.png")
    assert (tmp_path / "f.png").read_bytes().startswith(PNG)
    assert "drawn to" in outcome.err
    assert read_csv(outcome.out).shape == (4, 16)
    assert [path.name for path in tmp_path.iterdir()] == ["f.png"]


def test_a_model_without_intervals_says_so(tmp_path):
    waves(17).to_csv(tmp_path / "few.csv", index=False)
    fitted = done("fit", tmp_path / "few.csv", "-h", 4, "--out", tmp_path / "model", *SMALL)
    assert "too few to validate" in fitted.err
    predicted = done("predict", tmp_path / "model")
    assert "no intervals" in predicted.err
    assert read_csv(predicted.out).shape == (4, 4)
    tested = done("backtest", tmp_path / "model", tmp_path / "few.csv")
    assert "coverage" not in tested.out
    assert "note: this model has no intervals" in tested.err
    assert "no intervals" not in done("backtest", tmp_path / "model", tmp_path / "few.csv", "--levels", "").err


def test_nothing_but_constants(tmp_path):
    waves().assign(a=1.0, b=2.0, c=3.0).to_csv(tmp_path / "flat.csv", index=False)
    fitted = done("fit", tmp_path / "flat.csv", "-h", 4, "--out", tmp_path / "model", *SMALL)
    assert "3 constant series" in fitted.err
    table = read_csv(done("predict", tmp_path / "model", "--plot", tmp_path / "f.png").out)
    assert (table[["b", "b-lo-95", "b-hi-95"]] == 2).all(axis=None)
    assert (tmp_path / "f.png").read_bytes().startswith(PNG)
    done("backtest", tmp_path / "model", tmp_path / "flat.csv")


def test_a_time_zone_goes_through(tmp_path):
    """As text in a CSV file, with the offset of the place."""
    data = waves().assign(time=pd.date_range("2024-01-01", periods=150, freq="h", tz="Asia/Kolkata"))
    data.to_csv(tmp_path / "data.csv", index=False)
    done("fit", tmp_path / "data.csv", "-h", 4, "--out", tmp_path / "model", *SMALL)
    answer = done("predict", tmp_path / "model", tmp_path / "data.csv")
    assert answer.out.splitlines()[1].startswith("2024-01-07 06:00:00+05:30,")
    assert answer.out == done("predict", tmp_path / "model").out


# backtest


def test_backtest_for_machines(model, data):
    result = strict_json(done("backtest", model, data, "--windows", 4, "--stride", 2, "--levels", "90", "--json").out)
    assert (result["windows"], result["in_sample"]) == (4, 4)
    rows = {(row["forecaster"], row["series"]): row for row in result["metrics"]}
    assert len(rows) == 4 * 4
    assert result["worth"]["naive"].keys() == {"last value", "seasonal naive", "drift"}
    assert [note["code"] for note in result["notes"]] == ["backtest-in-sample"]
    assert rows["last value", "(all)"]["coverage_90"] is None  # NaN is not JSON
    expected = Forecaster.load(model).backtest(waves(), windows=4, stride=2, levels=[90])
    assert rows["OLinear", "a"]["mae"] == pytest.approx(expected.score(series="a", metric="mae"))
    assert rows["OLinear", "(all)"]["coverage_90"] == expected.score(metric="coverage_90")


def test_backtest_writes_every_forecast(model, data, tmp_path):
    outcome = done("backtest", model, data, "--windows", 3, "--out", tmp_path / "all.csv")
    assert "3 windows written to" in outcome.err
    table = pd.read_csv(tmp_path / "all.csv", parse_dates=["cutoff", "time"])
    assert len(table) == 12
    assert {"a", "a-actual", "a-lo-80", "a-hi-95"} <= set(table)
    assert (table["time"] > table["cutoff"]).all()


def test_the_scores_printed_are_the_scores(model, data):
    printed = done("backtest", model, data, "--windows", 3).out
    expected = Forecaster.load(model).backtest(waves(), windows=3, levels=[80, 95])
    assert "3 windows, all series" in printed
    ours = next(line for line in printed.splitlines() if line.startswith("OLinear "))
    assert ours.split()[1:5] == [
        f"{expected.score(metric=name):.4g}" for name in ("standardised_mae", "standardised_mse", "mase", "coverage_80")
    ]
    row = next(line for line in printed.splitlines() if line.startswith("b "))
    assert row.split()[1] == f"{expected.score(series='b', metric='standardised_mae'):.4g}"


def test_backtest_leads_with_what_it_is_worth(model, data):
    """First the share by which it is better; errors in the units of the data, which differ, come last."""
    printed = done("backtest", model, data, "--windows", 3).out
    worth = Forecaster.load(model).backtest(waves(), windows=3, levels=[80, 95]).worth()
    first = printed.splitlines()[0]
    assert f"{abs(worth['better']):.1%} better" in first
    assert worth["best_naive"] in first
    assert printed.index("std MAE") < printed.index("MASE") < printed.index("original units") < printed.index("\nMSE ")


def test_backtest_lists_the_worst_series_or_all(tmp_path):
    """Of thousands of series the worst twenty are what a person can read."""
    values, step = waves()["a"].to_numpy(), np.arange(150)
    names = [f"s{n:02d}" for n in range(25)]
    series = {name: np.roll(values, n) + np.sin(step * step * n) * n / 20 for n, name in enumerate(names)}
    pd.DataFrame({"time": waves()["time"]} | series).to_csv(tmp_path / "many.csv", index=False)
    done("fit", tmp_path / "many.csv", "-h", 4, "--out", tmp_path / "model", *SMALL)
    asked = ["backtest", tmp_path / "model", tmp_path / "many.csv", "--windows", 3]
    short, whole = done(*asked).out, done(*asked, "--all").out
    worth = strict_json(done(*asked, "--all", "--json").out)["worth"]
    shares = [own["better"] for own in worth["by_series"]]
    assert shares == sorted(shares)
    assert sorted(own["series"] for own in worth["by_series"]) == names
    listed = [line.split()[0] for line in whole.splitlines() if line[:3] in names]
    assert listed == [own["series"] for own in worth["by_series"]]
    assert [line.split()[0] for line in short.splitlines() if line[:3] in names] == listed[:20]
    assert "and 5 more series: --all lists them" in short


def test_unseen_rows_need_no_note(model, tmp_path):
    waves(200)[150:].to_csv(tmp_path / "later.csv", index=False)
    assert done("backtest", model, tmp_path / "later.csv", "--windows", 5).err == ""


def test_any_name_of_a_series_goes_through(tmp_path):
    """Units in brackets are usual; they are no markup, a dollar is no formula, a colon no emoji."""
    names = ["wind [m/s]", "x[/b]", "[red]", ":smile:", "US$^$", "a,b", "é"]
    values = waves()["a"].to_numpy()
    data = pd.DataFrame({"time": waves()["time"]} | {name: np.roll(values, i) for i, name in enumerate(names)})
    data.to_csv(tmp_path / "data.csv", index=False)
    inspected = done("inspect", tmp_path / "data.csv").out
    done("fit", tmp_path / "data.csv", "-h", 4, "--out", tmp_path / "model", *SMALL)
    predicted = read_csv(done("predict", tmp_path / "model", "--plot", tmp_path / "f.png").out)
    tested = done("backtest", tmp_path / "model", tmp_path / "data.csv").out
    for name in names:
        assert name in inspected
        assert name in predicted
        assert name in tested
    done("inspect", tmp_path / "model", "--plot", tmp_path / "m.png")


def test_what_is_read_is_left_alone(model, data, tmp_path):
    """Reading commands write nothing beside what they are told to."""
    before = listing(model), data.read_bytes()
    done("predict", model, data)
    done("backtest", model, data)
    done("inspect", model)
    done("inspect", data)
    assert (listing(model), data.read_bytes()) == before
    assert [path.name for path in data.parent.iterdir()] == [data.name]


def test_forecasts_of_a_backtest_on_standard_output_are_a_table_alone(data, model):
    """The scores stood below them, or JSON."""
    table = pd.read_csv(io.StringIO(done("backtest", model, data, "--windows", 2, "--out", "-").out))
    assert pd.to_numeric(table.iloc[:, -1], errors="coerce").notna().all()
    outcome = call("backtest", model, data, "--out", "-", "--json")
    assert outcome.code == 2
    assert "both write to standard output" in strict_json(outcome.out)["error"]["message"]
