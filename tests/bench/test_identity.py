"""The names of tasks, variants and jobs: written and read they are the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from olinear.bench.spec.identity import JobKey, TaskKey, Variant
from olinear.core.errors import ConfigError

WORD = st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1)  # no spaces
COUNT = st.integers(1, 10_000)
NAME = WORD.filter(lambda text: not set(text) & set("/=,"))
VALUE = WORD.filter(lambda text: "," not in text)
TEXT = st.text(min_size=1).filter(lambda text: text == text.strip() and not set(text) & set("\n\r,"))
SINGLE = st.one_of(
    st.builds(Variant, NAME), st.builds(Variant, NAME, VALUE), st.builds(lambda a, b: Variant(a, method=b), NAME, TEXT)
)
VARIANTS = st.one_of(SINGLE, st.builds(Variant.join, st.lists(SINGLE, min_size=2, max_size=4)))
TASKS = st.builds(TaskKey, WORD, COUNT, COUNT)
JOBS = st.builds(JobKey, TASKS, WORD, VARIANTS, COUNT)


@given(TASKS)
def test_a_task(key):
    assert TaskKey.parse(str(key)) == key


@given(VARIANTS)
def test_a_variant(variant):
    assert Variant.parse(str(variant)) == variant


@given(VARIANTS)
def test_a_variant_is_its_parts(variant):
    assert Variant.join(variant.parts) == variant
    assert str(variant) == ",".join(map(str, variant.parts))


@given(st.text())
def test_any_text_is_a_variant_with_one_spelling(text):
    """Whether there is such a variant is asked later; a spelling that is read and written stays as it is."""
    once = str(Variant.parse(text))
    assert str(Variant.parse(once)) == once


@given(JOBS)
def test_a_job(job):
    assert JobKey.parse(str(job)) == job


@pytest.mark.parametrize(
    ("text", "job"),
    [
        ("ILI 36->24 OLinear seed 2023", JobKey(TaskKey("ILI", 36, 24))),
        (
            "PEMS08_tail 96->12 OLinear csl-isl/w/o + Linear seed 2024",
            JobKey(TaskKey("PEMS08_tail", 96, 12), variant=Variant("csl-isl", method="w/o + Linear"), seed=2024),
        ),
        (
            "ETTm1 336->96 OLinear OLinear-C,lookback-search seed 2023",
            JobKey(TaskKey("ETTm1", 336, 96), variant=Variant("OLinear-C", also=(Variant("lookback-search"),))),
        ),
        (
            "ILI 12->3 TimeMixer++ setting=few seed 7",
            JobKey(TaskKey("ILI", 12, 3), "TimeMixer++", Variant("setting", "few"), 7),
        ),
    ],
)  # fmt: skip
def test_examples(text, job):
    assert JobKey.parse(text) == job
    assert str(job) == text


@pytest.mark.parametrize("text", ["", "ILI", "ILI 36-24 OLinear seed 1", "ILI 36->24 OLinear", "ILI 36->24 seed 1"])
def test_what_is_no_job_is_refused(text):
    with pytest.raises(ConfigError, match="a job is written as 'ILI 36->24 OLinear embed=8 seed 2023', found"):
        JobKey.parse(text)


def test_what_is_no_task_is_refused():
    with pytest.raises(ConfigError, match="a task is written as 'ILI 36->24', found 'ILI'"):
        TaskKey.parse("ILI")
