"""How to train: a frozen record, unknown keys forbidden."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class TrainingConfig(BaseModel):
    """The settings of one training run; the defaults are those of the paper's ETTh1 runs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    loss: Literal["weighted_l1", "l1", "l2"] = Field("weighted_l1", description="training and validation loss")
    learning_rate: float = Field(5e-4, gt=0, description="of Adam, at the start")
    schedule: Literal["type1", "type3", "decay", "stairs", "cosine", "onecycle", "constant"] = Field(
        "type1", description="learning rate by epoch"
    )
    batch_size: int = Field(32, ge=1, description="windows in a step")
    max_epochs: int = Field(30, ge=1, description="epochs at the most")
    patience: int = Field(8, ge=1, description="epochs without a better validation loss before it stops")
    clip_norm: float | None = Field(None, gt=0, description="largest gradient norm; None does not clip")
    average_decay: float | None = Field(
        None, gt=0, lt=1, description="exponential averaging of weights; None does not average"
    )
    seed: int = Field(2023, ge=0, lt=2**63, description="of the shuffle and of dropout")
    device: str = Field("auto", description="auto (cuda, then mps, then cpu), or a torch device")
    mixed_precision: bool = Field(False, description="bfloat16 arithmetic, on CUDA only")
    checkpoint_seconds: float = Field(30.0, ge=0, description="time between checkpoints within an epoch")
