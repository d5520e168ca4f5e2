"""Each format, and files that are not what they should be."""

import sys

import h5py
import numpy as np
import pytest
from dataset_parts import MISSING, numbers, times, write_csv, write_h5, write_like, write_npz, write_text

from olinear.core.errors import DataError, MissingDependencyError
from olinear.data.datasets import catalogue, load_values, locate, read_table

PEMS08 = ("PEMS08", "PEMS08_tail")

# CSV


def test_carriage_returns_replacement_characters_and_empty_cells(tmp_path):
    """Weather has the first two; an empty cell is NaN, and 0 in what models see. -9999 stays."""
    text = "date,SWDR (W/m\ufffd),T\r\n2020-01-01 00:10:00,1.5,\r\n2020-01-01 00:20:00,,-9999\r\n"
    (tmp_path / "weather.csv").write_bytes(text.encode())
    table = read_table(tmp_path / "weather.csv")
    assert table.series == ["SWDR (W/m\ufffd)", "T"]
    np.testing.assert_array_equal(table.values, [[1.5, np.nan], [np.nan, -9999]])
    found = load_values(catalogue()["Weather"], tmp_path / "weather.csv")
    np.testing.assert_array_equal(found, [[1.5, 0], [0, -9999]])


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8", "utf-8-sig"])
def test_any_encoding_of_the_header(tmp_path, encoding):
    (tmp_path / "a.csv").write_bytes("date,m²\n2020-01-01,1\n".encode(encoding))
    assert read_table(tmp_path / "a.csv").series == ["m²"]


def test_whole_numbers_and_powers_of_ten(tmp_path):
    (tmp_path / "covid.CSV").write_text("date,1,2\n2020/2/1,0.00E+00,3\n2020/2/2,4.97E+02,4\n")
    table = read_table(tmp_path / "covid.CSV")
    np.testing.assert_array_equal(table.values, [[0, 3], [497, 4]])
    assert table.values.dtype == np.float64


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("date\n2020-01-01\n", "a date and at least one series"),
        ("date,a\n2020-01-01,1\n2020-01-02,x\n", r"no number in row 2 of 'a' \('x'\)"),
        ("date,a\n2020-01-01,1\n2020-01-02,inf\n", "infinite value in row 2 of 'a'"),
        ("date,a\n2020-01-01,1,2\n2020-01-02,1,2\n", "not a readable CSV"),
        ("date,a\n2020-01-01,1\n2020-01-02,1,2\n", "not a readable CSV"),
    ],
)
def test_a_csv_file_that_is_none(tmp_path, text, reason):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(DataError, match=reason):
        read_table(tmp_path / "a.csv")


# Headerless text


def test_headerless_text(tmp_path):
    values = numbers()
    table = read_table(write_text(tmp_path / "exchange_rate.txt", values))
    np.testing.assert_array_equal(table.values, values)
    assert (table.series, table.times) == (["0", "1", "2"], None)


def test_text_with_an_empty_cell_and_carriage_returns(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"1,,3\r\n4,5,6\r\n")
    np.testing.assert_array_equal(read_table(tmp_path / "a.txt").values, [[1, np.nan, 3], [4, 5, 6]])


@pytest.mark.parametrize(
    ("text", "reason"), [("", "cannot be read"), ("a,b\n1,2\n", "no number in row 1 of '0'"), ("1,2\n1,2,3\n", "read")]
)
def test_a_text_file_that_is_none(tmp_path, text, reason):
    (tmp_path / "a.txt").write_text(text)
    with pytest.raises(DataError, match=reason):
        read_table(tmp_path / "a.txt")


# NumPy archives


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_the_first_feature_of_pems(tmp_path, dtype):
    values = (100 * numbers()).astype(dtype)
    table = read_table(write_npz(tmp_path / "PEMS04.npz", values))
    np.testing.assert_array_equal(table.values, values)
    assert table.values.dtype == np.float64
    assert (len(table.series), table.times) == (3, None)


def test_gaps_in_pems_are_filled(tmp_path):
    """From the row before; at the start from the row after; a series of nothing but gaps is 0."""
    data = np.array([[np.nan, 1, np.nan], [2, np.nan, np.nan], [np.nan, 3, np.nan]])[:, :, None]
    np.savez(tmp_path / "PEMS03.npz", data=data)
    found = load_values(catalogue()["PEMS03"], tmp_path / "PEMS03.npz")
    np.testing.assert_array_equal(found, [[2, 1, 0], [2, 1, 0], [2, 3, 0]])


@pytest.mark.parametrize(
    ("arrays", "reason"),
    [
        ({"flow": np.zeros((4, 3, 1)), "speed": np.zeros(1)}, "must hold an array `data` .*, found flow, speed"),
        ({}, "found none"),
        ({"data": np.zeros((4, 3))}, r"found float64 of shape \(4, 3\)"),
        ({"data": np.zeros((4, 3, 0))}, r"found float64 of shape \(4, 3, 0\)"),
        ({"data": np.full((2, 2, 1), "x")}, "must be numbers"),
        ({"data": np.array([[["x"], [1]]], dtype=object)}, "allow_pickle"),
    ],
    ids=["wrong name", "empty", "two axes", "no feature", "text", "objects"],
)
def test_an_archive_that_is_none(tmp_path, arrays, reason):
    """Objects would be unpickled, and a pickle can run anything."""
    np.savez(tmp_path / "PEMS08.npz", **arrays)
    with pytest.raises(DataError, match=reason):
        read_table(tmp_path / "PEMS08.npz")


@pytest.mark.parametrize("kept", [0, 10, 200, -30])
def test_half_an_archive(tmp_path, kept):
    path = write_npz(tmp_path / "PEMS08.npz", numbers())
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(DataError, match=r"PEMS08\.npz"):
        read_table(path)


def test_a_damaged_archive(tmp_path):
    path = write_npz(tmp_path / "PEMS08.npz", numbers())
    content = bytearray(path.read_bytes())
    content[200:240] = bytes(40)
    path.write_bytes(content)
    with pytest.raises(DataError, match="cannot be read"):
        read_table(path)


def test_a_single_array_is_no_archive(tmp_path):
    np.save(tmp_path / "a.npy", numbers())
    (tmp_path / "a.npy").rename(tmp_path / "PEMS08.npz")
    with pytest.raises(DataError, match=r"not a \.npz file"):
        read_table(tmp_path / "PEMS08.npz")


# HDF5


@pytest.mark.parametrize("unit", ["ns", "us"])
def test_a_frame_of_pandas(tmp_path, unit):
    """Nanoseconds, as METR-LA has them; a newer pandas writes others and says so."""
    values = numbers()
    table = read_table(write_h5(tmp_path / "metr-la.h5", values, times("5 min"), unit))
    np.testing.assert_array_equal(table.values, values)
    assert table.series == ["773700", "773701", "773702"]
    assert list(table.times) == list(times("5 min"))


def test_columns_of_two_types_keep_their_order(tmp_path):
    """pandas keeps whole numbers in a block of their own."""
    path = write_h5(tmp_path / "metr-la.h5", numbers(4, 2), times(rows=4))
    with h5py.File(path, "a") as file:
        frame = file["df"]
        del frame["axis0"]
        frame.attrs["nblocks"] = 2
        frame["axis0"] = np.array(["773700", "whole", "773701"], dtype="S6")
        frame["block1_items"] = np.array(["whole"], dtype="S6")
        frame["block1_values"] = np.arange(4)[:, None]
    table = read_table(path)
    assert table.series == ["773700", "whole", "773701"]
    np.testing.assert_array_equal(table.values[:, 1], np.arange(4))
    np.testing.assert_array_equal(table.values[:, [0, 2]], numbers(4, 2))


def test_an_hdf5_file_without_a_frame(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["speed"] = numbers()
    with pytest.raises(DataError, match="frame in the fixed format, found speed"):
        read_table(tmp_path / "a.h5")
    (tmp_path / "b.h5").write_text("no HDF5 at all")
    with pytest.raises(DataError, match=r"cannot be read as a \.h5 file"):
        read_table(tmp_path / "b.h5")


def test_without_h5py(tmp_path, monkeypatch):
    path = write_h5(tmp_path / "metr-la.h5", numbers(), times())
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(MissingDependencyError, match=r"olinear\[h5\]"):
        read_table(path)


# Whole datasets


@pytest.mark.parametrize(
    ("name", "file"), [(name, file) for name in MISSING for file in catalogue()[name].files], ids=lambda text: text
)
def test_the_datasets_we_lack(tmp_path, name, file):
    """A small file of the same format walks the whole way: found, read, split."""
    dataset, values = catalogue()[name], numbers()
    assert dataset.sha256 == "unknown"
    path = write_like(dataset, tmp_path / file, values)
    assert locate(dataset, tmp_path) == path
    np.testing.assert_array_equal(load_values(dataset, path), values)
    split = dataset.split_rows(len(values))
    expected = (24, 8, 8) if name.startswith("PEMS") else (28, 4, 8)
    assert tuple(map(len, (split.train, split.validation, split.test))) == expected


def test_an_unknown_ending(tmp_path):
    write_csv(tmp_path / "a.xlsx", numbers(), times())
    with pytest.raises(DataError, match=r"none of the formats of the datasets: \.csv, \.txt, \.npz, \.h5"):
        read_table(tmp_path / "a.xlsx")


@pytest.mark.parametrize("ending", ["csv", "txt", "npz", "h5"])
def test_no_file(tmp_path, ending):
    (tmp_path / f"folder.{ending}").mkdir()
    for name in ("nowhere", "folder"):
        with pytest.raises(DataError, match=f"there is no file .*{name}.{ending}"):
            read_table(tmp_path / f"{name}.{ending}")


def test_pems08_and_its_tail(dataset_folder):
    """The tail is a file of its own, and the last rows of the whole."""
    whole, tail = (load_values(catalogue()["PEMS08"], dataset_folder / f"{name}.npz") for name in PEMS08)
    assert (whole.shape, tail.shape) == ((17856, 170), (7156, 170))
    np.testing.assert_array_equal(whole[-7156:], tail)


def test_every_fourth_quarter_hour_is_the_hour(dataset_folder):
    quarters, hours = (read_table(dataset_folder / f"{name}.csv") for name in ("ETTm1", "ETTh1"))
    np.testing.assert_allclose(quarters.values[::4], hours.values, rtol=1e-15)
    assert list(quarters.times[::4]) == list(hours.times)
