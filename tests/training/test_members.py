"""Members trained side by side are what each is alone."""

import pytest
import torch
from training_parts import TimeLinear, equal, noise, small_olinear, weights_of

from olinear.core import Batch, OLinearError, Point, Traits
from olinear.core.runtime import Started
from olinear.data.windows import Windows
from olinear.models import Members, answer, for_inference, traits_of
from olinear.training import Callback, Member, TrainingConfig, members_at_once, train, train_members
from olinear.training import members as side


def config(seed: int, **settings) -> TrainingConfig:
    return TrainingConfig(max_epochs=4, batch_size=8, seed=seed, **settings)


@pytest.fixture
def two_threads():
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(threads)


def alone(seed: int, path=None):
    model = small_olinear(seed)
    return model, train(model, noise(), noise(seed=1), config(seed), checkpoint=path, progress=False)


def test_each_is_what_it_is_alone_bit_by_bit(two_threads, monkeypatch):
    """In processes of their own of one thread, as these models take anyway, with reports in their order."""
    members = [Member(small_olinear(seed), config(seed)) for seed in range(2)]
    assert members_at_once(members) == 2
    monkeypatch.setattr(side, "train", lambda *_, **__: pytest.fail("trained in this process"))
    reports = train_members(members, noise(), noise(seed=1), progress=False)
    monkeypatch.undo()
    for seed, (member, report) in enumerate(zip(members, reports, strict=True)):
        model, expected = alone(seed)
        assert equal(weights_of(member.model), weights_of(model))
        assert report.best_loss == expected.best_loss
        assert not member.model.training
    assert len({report.best_loss for report in reports}) == 2


def test_one_after_the_other_they_are_the_same(tmp_path):
    """Where callbacks want to see each; a resumed run goes on from each one's own checkpoint."""
    seen: list[int] = []

    class Seeds(Callback):
        def started(self, run):
            seen.append(run.config.seed)

    members = [Member(small_olinear(seed), config(seed), tmp_path / f"run{seed}") for seed in range(2)]
    assert members_at_once(members, alone=True) == 1
    train_members(members, noise(), noise(seed=1), progress=False, callbacks=[Seeds()])
    assert seen == [0, 1]
    again = [Member(small_olinear(7), config(seed), tmp_path / f"run{seed}") for seed in range(2)]
    train_members(again, noise(), noise(seed=1), progress=False, resume=True, callbacks=[Seeds()])
    for seed, pair in enumerate(zip(members, again, strict=True)):
        for member in pair:
            assert equal(weights_of(member.model), weights_of(alone(seed)[0]))


def test_they_compute_in_one_precision(monkeypatch):
    """Measured once, before they keep each other busy."""
    measured = []
    monkeypatch.setattr(side, "settle", lambda *_: measured.append(1) or ("bfloat16", "torch"))
    members = [Member(small_olinear(seed), config(seed, precision="auto")) for seed in range(2)]
    reports = train_members(members, noise(), None, progress=False, callbacks=[Callback()])
    assert [report.precision for report in reports] == ["bfloat16", "bfloat16"]
    assert len(measured) == 1


def test_what_cannot_go_to_a_process_is_trained_here(two_threads):
    class Local(TimeLinear):
        """Of a function, so that another process cannot find it."""

    members = [Member(Local(), config(seed)) for seed in range(2)]
    assert len(train_members(members, noise(), None, progress=False)) == 2
    Local.__module__ = "__main__"
    assert not side._can_be_sent(members, noise(), None, None)
    assert side._can_be_sent([Member(TimeLinear(), config(0))], noise(), None, None)


def test_a_member_that_fails_is_an_error():
    members = [Member(TimeLinear(), config(0))]
    with pytest.raises(OLinearError, match="a member was not trained: out of memory"):
        side._take((0, side.Ended("out of memory")), members, 1, {}, lambda said: None, None)
    heard: list[object] = []
    for message in (Started(), "a note"):
        side._take((0, message), members, 1, {}, heard.append, None)
    assert heard == ["a note"]


def test_windows_travel_without_the_views_over_them():
    import pickle

    windows = Windows(torch.randn(50, 3), 8, 4, range(2, 30, 3), torch.randn(50, 3))
    for given in (windows, noise()):
        sent = pickle.dumps(given)
        found = pickle.loads(sent)
        assert found.checksum() == given.checksum()
        assert len(sent) < 4000


def test_the_answer_is_the_mean_of_theirs():
    models, batch = [small_olinear(seed).eval() for seed in range(3)], Batch(torch.randn(5, 8, 2))
    together = Members(models)
    expected = torch.stack([model(batch.past) for model in models]).mean(0)
    assert torch.equal(answer(together, batch).point, expected)
    assert torch.allclose(for_inference(together)(batch.past), expected, atol=1e-5)
    assert torch.allclose(together.compact()(batch.past), expected, atol=1e-5)
    assert torch.allclose(for_inference(together, "bfloat16")(batch.past), expected, atol=0.1)
    assert traits_of(together) == traits_of(models[0])
    assert together.input_transform is models[0].input_transform


def test_members_that_take_batches_answer_with_a_point():
    class Reads(TimeLinear):
        traits = Traits(takes_batch=True, outputs=frozenset({"point", "quantiles"}))

        def forward(self, batch):
            return Point(super().forward(batch.past))

    models, batch = [Reads(seed=seed) for seed in range(2)], Batch(torch.randn(5, 8, 2))
    together = Members(models)
    expected = torch.stack([model(batch).point for model in models]).mean(0)
    assert torch.equal(answer(together, batch).point, expected)
    assert traits_of(together).outputs == {"point"}
