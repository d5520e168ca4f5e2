"""The settings of the zoo in `models.toml` against what is published for ETTh1 96->96."""

import pytest
import torch
from zoo_parts import count

from olinear.bench.spec.model_settings import ANY, find_setting, settings
from olinear.core.errors import ConfigError
from olinear.models import MAIN, MODELS, check_options
from olinear.training import TrainingConfig

OTHERS = [model for model in settings() if model not in (MAIN, ANY)]
EVERY = [(model, name) for model in OTHERS for name in (*settings()[model], *settings()[ANY])]
FIELDS = ("learning_rate", "schedule", "batch_size", "max_epochs", "patience")
PUBLISHED = {
    ("DLinear", "main"): (5e-3, "type1", 32, 10, 3),
    ("DLinear", "tsl"): (1e-4, "type1", 32, 10, 3),
    ("RLinear", "main"): (5e-3, "type1", 128, 15, 10),
    ("FITS", "main"): (5e-4, "decay", 128, 50, 20),
    ("FreTS", "main"): (1e-4, "type1", 8, 10, 3),
    ("TiDE", "tsl"): (0.1, "type1", 512, 10, 5),
    ("FilterNet", "weather"): (1e-2, "type1", 128, 20, 6),
    ("TimeMixer", "main"): (1e-2, "onecycle", 128, 10, 10),
    ("iTransformer", "main"): (1e-4, "type1", 32, 10, 3),
    ("PatchTST", "main"): (1e-4, "type3", 128, 100, 100),
    ("PatchTST", "tsl"): (1e-4, "type1", 32, 10, 3),
    ("Leddam", "main"): (1e-4, "constant", 128, 100, 6),
    ("CARD", "main"): (1e-4, "cosine", 128, 100, 20),
    ("Fredformer", "main"): (1e-4, "type3", 128, 100, 10),
    ("TimesNet", "tsl"): (1e-4, "type1", 32, 10, 3),
    ("Crossformer", "main"): (1e-4, "stairs", 32, 20, 3),
    ("Crossformer", "tsl"): (1e-4, "type1", 32, 10, 3),
    ("FEDformer", "main"): (1e-4, "type1", 32, 10, 3),
}
PARAMETERS = {("PatchTST", "tsl"): 3_751_520, ("Crossformer", "tsl"): 42_176_036, ("TiDE", "tsl"): 985_708}


@pytest.mark.parametrize("key", PUBLISHED, ids=" ".join)
def test_it_is_trained_as_published(key):
    training = find_setting(*key).training
    assert tuple(training[field] for field in FIELDS) == PUBLISHED[key]


@pytest.mark.parametrize("key", PARAMETERS, ids=" ".join)
def test_the_form_of_time_series_library_has_its_size(key):
    with torch.device("meta"):
        assert count(MODELS.find(key[0]).load()(7, 96, 96, **find_setting(*key).options)) == PARAMETERS[key]


@pytest.mark.parametrize("key", EVERY, ids=" ".join)
def test_every_setting_is_possible(key):
    """A misspelt option or schedule would be met hours into a run."""
    setting = find_setting(*key)
    check_options(key[0], setting.options)
    with torch.device("meta"):
        assert MODELS.find(key[0]).load()(7, 96, 96, **setting.options)
    assert TrainingConfig(loss=setting.loss, **setting.training)


def test_what_is_main_on_a_dataset_may_be_one_of_the_shared_ways():
    chosen, elsewhere = find_setting("PatchTST", "main", "ILI"), find_setting("PatchTST", "elsewhere", "ILI")
    assert elsewhere == find_setting("PatchTST", "main", "ETTh1")
    assert chosen.options == elsewhere.options
    assert chosen.training == find_setting("PatchTST", "few-fast", "ILI").training


def test_any_model_may_be_trained_in_a_shared_way():
    main, few = find_setting("CARD", "main", "ILI"), find_setting("CARD", "few", "ILI")
    assert few.options == find_setting("CARD", "ILI").options == main.options
    assert few.loss == "weighted_l1"
    assert few.training["batch_size"] == 4
    with pytest.raises(ConfigError, match="OLinear has no setting 'few': it has slow"):
        find_setting("OLinear", "few", "ILI")
