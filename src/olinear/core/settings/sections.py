"""The sections of the settings tree: every setting once, with its range, its default and what it means."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from olinear.core.settings.bounds import as_bounds
from olinear.core.settings.names import as_marks, as_names
from olinear.core.settings.renamed import with_present_names

Loss = Literal["weighted_l1", "l1", "l2"]
Schedule = Literal["type1", "type3", "decay", "stairs", "cosine", "onecycle", "constant"]
Optimizer = Literal["adam", "adamw", "sgd"]
Names = Annotated[tuple[str, ...], BeforeValidator(as_names)]  # on the command, an option that may be repeated
Marks = Annotated[tuple[str, ...], BeforeValidator(as_marks)]
FROM_DATA = {"from_data": True}  # left out, it is chosen from the size of the data


class Section(BaseModel):
    """Settings that belong together; frozen, unknown keys forbidden."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class TaskSettings(Section):
    """What is asked for."""

    horizon: int = Field(ge=1, description="steps to forecast")
    lookback: int = Field(
        ge=1, description="steps the forecast looks back on; from season and rows", json_schema_extra=dict(FROM_DATA)
    )


class ReadingSettings(Section):
    """How a table becomes series on a time grid; what is left out is found in the rows, and noted."""

    freq: str | None = Field(
        None,
        description="step of the rows, such as h, D, B, MS; 'rows' if a row is a step whatever the clock says; found "
        "in the rows if left out",
    )
    time: str | None = Field(None, description="name of the time column, where it is not the usual one")
    id: str | None = Field(None, description="long tables: name of the series column")
    value: str | None = Field(None, description="long tables: name of the value column")
    series: Names | None = Field(
        None, description="the series to read, in this order; all that are numeric if left out"
    )
    drop: Names | None = Field(None, description="columns, or series of a long table, to leave out")
    time_format: str | None = Field(
        None,
        description="how times are written: a pattern such as %d.%m.%Y, or what whole numbers are: epoch_s, epoch_ms, "
        "excel, yyyymmdd, yyyymm, or steps for a counter",
    )
    dayfirst: bool | None = Field(
        None,
        description="whether 05/03/2024 is the 5th of March; if false, the 3rd of May; found in the rows if left out",
        json_schema_extra={"off": "monthfirst"},
    )
    tz: str | None = Field(
        None, description="time zone of the times, such as Europe/Berlin; those with another are converted"
    )
    utc: bool = Field(False, description="times without an offset are UTC")
    sep: str | None = Field(None, description="text files: what separates the cells of a row")
    decimal: Literal[".", ","] | None = Field(None, description="text: the decimal separator")
    thousands: str | None = Field(None, description="text: the thousands separator")
    encoding: str | None = Field(None, description="text files: encoding, such as cp1252")
    na: Marks | None = Field(None, description="what stands for a missing value besides the usual words, such as -9999")
    skip_rows: int | None = Field(None, ge=0, description="files: rows above the header")
    header: bool | None = Field(None, description="files: whether there is a header with the names of the columns")
    missing: Literal["bridge", "error"] = Field(
        "bridge", description="gaps are bridged as input and left out of loss and scores, or refused"
    )


class ModelSettings(Section):
    """Which forecaster, and its parts; a part that is left out is as the model has it."""

    name: str = Field(
        "OLinear", description="a forecaster of those that `olinear models` lists", json_schema_extra={"flat": "model"}
    )
    options: dict[str, Any] = Field({}, description="further arguments of the model, by name")
    basis: str | None = Field(None, description="orthogonal basis of both time axes: pearson, fourier, haar, …")
    model_dim: int | None = Field(None, ge=1, description="width", json_schema_extra=dict(FROM_DATA))
    ff_dim: int | None = Field(None, ge=1, description="width of the feed-forward layers; as model_dim")
    embed_dim: int | None = Field(None, ge=1, description="length of the dimension extension")
    blocks: int | None = Field(None, ge=0, description="number of blocks", json_schema_extra=dict(FROM_DATA))
    dropout: float | None = Field(
        None,
        ge=0,
        lt=1,
        description="share of features that a step of training leaves out",
        json_schema_extra=dict(FROM_DATA),
    )
    mixer: str | None = Field(None, description="what mixes series: normlin, linear, attention, …; none for nothing")
    rank: int | None = Field(None, ge=1, description="of NormLin's factors, for thousands of series")
    pre_linear: bool | None = Field(None, description="a linear layer before series are mixed")
    post_linear: bool | None = Field(None, description="a linear layer after series are mixed")
    temporal: str | None = Field(None, description="the layers along the width: linear, normlin; none for nothing")
    head: Literal["mlp", "linear"] | None = Field(None, description="from the decoded copies to the forecast")
    affine: bool | None = Field(None, description="a learnt weight and bias of each series in the normalisation")
    fold: bool | None = Field(None, description="compute the same with fewer multiplications")

    @property
    def arguments(self) -> dict[str, Any]:
        """What the model is built with besides its sizes; `none` as a part's name stands for None."""
        given = self.model_dump(exclude={"name", "options"}, exclude_none=True)
        parts = {name: None if (name, value) in NOTHING else value for name, value in given.items()}
        return parts | self.options


NOTHING = {("mixer", "none"), ("temporal", "none")}


class ValidationSettings(Section):
    """How a fit is judged, and what its forecasts are."""

    share: float = Field(
        0.2,
        gt=0,
        lt=1,
        description="share of the rows, the newest, that validates",
        json_schema_extra={"flat": "validation"},
    )
    refit: bool = Field(
        False,
        description="train again from the start on all rows, for the chosen number of epochs",
        json_schema_extra=dict(FROM_DATA),
    )
    holdout: int = Field(
        0,
        ge=0,
        description="newest rows of those that validate, which no choice sees: the fit is scored on them next to naive "
        "forecasts, then learns from them; 0 scores nothing",
        json_schema_extra=dict(FROM_DATA),
    )
    bounds: Annotated[str, BeforeValidator(as_bounds)] = Field(
        "auto",
        description="what forecasts may not leave: low,high; none; auto stops at 0 what never was negative",
    )
    point: Literal["median", "mean"] = Field(
        "median", description="what a point forecast is; a mean adds the mean error of validation"
    )


_PRECISION = (
    "of matrix products; weights and sums are float32 in either. auto takes bfloat16 where the machine has units for "
    "it and a measurement of the model says that it is quicker; the folder says which it was"
)


class TrainingConfig(Section):
    """The settings of one training run; the defaults are those of the paper's ETTh1 runs."""

    loss: Loss = Field("weighted_l1", description="training and validation loss")
    optimizer: Optimizer = Field("adam", description="what moves the weights")
    weight_decay: float = Field(0.0, ge=0, description="of the optimizer")
    learning_rate: float = Field(5e-4, gt=0, description="at the start", json_schema_extra=dict(FROM_DATA))
    schedule: Schedule = Field("type1", description="learning rate by epoch", json_schema_extra=dict(FROM_DATA))
    batch_size: int = Field(32, ge=1, description="windows in a step", json_schema_extra=dict(FROM_DATA))
    max_epochs: int = Field(30, ge=1, description="epochs at the most", json_schema_extra=dict(FROM_DATA))
    epoch_steps: int = Field(
        0,
        ge=0,
        description="steps of an epoch at the most; the next goes on with windows that were not seen yet, until all "
        "were; 0 takes all windows in each",
        json_schema_extra=dict(FROM_DATA),
    )
    patience: int = Field(
        8,
        ge=1,
        description="epochs without a better validation loss before it stops",
        json_schema_extra=dict(FROM_DATA),
    )
    clip_norm: float | None = Field(None, gt=0, description="largest norm of the gradient; none does not clip")
    average_decay: float | None = Field(
        None, gt=0, lt=1, description="of the exponential average of the weights; none does not average"
    )
    seed: int = Field(2023, ge=0, lt=2**63, description="of weights, shuffle and dropout")
    device: str = Field("auto", description="auto (cuda, then mps, then cpu), or a torch device")
    precision: Literal["auto", "float32", "bfloat16"] = Field("float32", description=_PRECISION)
    checkpoint_seconds: float = Field(30.0, ge=0, description="time between checkpoints within an epoch")

    @model_validator(mode="before")
    @classmethod
    def _take_old_names(cls, given: Any) -> Any:
        return with_present_names(given) if isinstance(given, dict) else given


class FitTraining(TrainingConfig):
    """How training goes. The paper's runs have the same settings with the seed 2023, in float32."""

    members: int = Field(
        1, ge=1, le=100, description="models trained, each with the next seed; the forecast is the mean of theirs"
    )
    precision: Literal["auto", "float32", "bfloat16"] = Field("auto", description=_PRECISION)
    seed: int = Field(0, ge=0, lt=2**63, description="of weights, shuffle and dropout; equal seeds, equal fits")


class Settings(Section):
    """All that makes a fit; saved with it."""

    task: TaskSettings
    reading: ReadingSettings = ReadingSettings()
    model: ModelSettings = ModelSettings()
    training: FitTraining = FitTraining()
    validation: ValidationSettings = ValidationSettings()

    @property
    def lookback(self) -> int:
        return self.task.lookback

    @property
    def horizon(self) -> int:
        return self.task.horizon
