"""Every forecaster by its card. A new one is a file in `zoo` and a line here."""

from olinear.core import Card, Registry, Traits

MAIN = "OLinear"  # the default, and what the others are compared with
POINT = Traits()
ANY_SERIES = Traits(any_series=True)  # with the default options
ANY_LENGTH = Traits(any_series=True, any_length=True)
SOLVED = Traits(closed_form=True, any_series=True)
TOGETHER = Traits(batch_dependent=True)
ASKED = Traits(closed_form=True, zero_shot=True, any_series=True, slow=True)


def _zoo(name: str, place: str, about: str, traits: Traits = POINT, **least: int) -> Card:
    return Card(name, f"olinear.models.zoo.{place}", about, traits, least=least)


MODELS = Registry(
    [
        Card(
            MAIN,
            "olinear.nn.olinear:OLinear",
            "The paper's forecaster: linear layers on decorrelated features, "
            "NormLin across series (Section 4, Equation 2).",
            Traits(from_rows=True, compact=True, orthogonal=True),
            sizes="olinear.models.sizes:of_olinear",
            least={"blocks": 0},
        ),
        _zoo(
            "DLinear",
            "dlinear:DLinear",
            "A moving average splits season and trend; one linear layer along time forecasts each.",
            ANY_SERIES,
        ),
        _zoo(
            "RLinear",
            "rlinear:RLinear",
            "One linear layer along time, between RevIN and its inverse.",
        ),
        _zoo(
            "iTransformer",
            "itransformer:ITransformer",
            "Each series is a token; attention mixes them.",
            ANY_SERIES,
            blocks=0,
        ),
        _zoo(
            "PatchTST",
            "patchtst:PatchTST",
            "Each series alone: its patches are tokens, attention mixes them, one linear layer reads them all.",
            ANY_SERIES,
            blocks=0,
        ),
        _zoo(
            "PatchDecoder",
            "patch_decoder:PatchDecoder",
            "Each series alone: every patch looks back on those before it and foretells the next.",
            ANY_LENGTH,
            blocks=0,
        ),
        _zoo(
            "Leddam",
            "leddam:Leddam",
            "A learnt smoothing takes the main part; attention over series and within each works on the rest.",
            blocks=0,
        ),
        _zoo(
            "Fredformer",
            "fredformer:Fredformer",
            "Attention over series in each band of the spectrum, and a forecast of the spectrum.",
            ANY_SERIES,
            blocks=0,
        ),
        _zoo(
            "FITS",
            "fits:FITS",
            "One complex linear layer from the lookback's low frequencies to those of lookback and horizon together.",
            ANY_SERIES,
        ),
        _zoo(
            "FreTS",
            "frets:FreTS",
            "Each value becomes a vector, a one-layer MLP works on its spectrum along time, two layers read all steps.",
            ANY_SERIES,
        ),
        _zoo(
            "FilterNet",
            "filternet:FilterNet",
            "A filter made from the spectrum along series mixes them; an MLP without a residual reads each.",
        ),
        _zoo(
            "TiDE",
            "tide:TiDE",
            "Residual MLPs encode each series and decode each step; a linear layer runs past them.",
            encoder_blocks=0,
            decoder_blocks=0,
            series_dim=0,
        ),
        _zoo(
            "CARD",
            "card:CARD",
            "Patches attend over series, then over time, each time also over features; neighbours are blended.",
            blocks=0,
        ),
        _zoo(
            "Crossformer",
            "crossformer:Crossformer",
            "Segments attend within their series, series meet through routers, on several scales of time.",
            blocks=0,
        ),
        _zoo(
            "FEDformer",
            "fedformer:FEDformer",
            "An encoder and a decoder that mix time by a few frequencies and set its trend aside (Fourier form).",
            encoder_blocks=0,
            decoder_blocks=0,
            label_length=0,
        ),
        _zoo(
            "TimeMixer",
            "timemixer:TimeMixer",
            "Each series alone, on several scales: seasons mix from fine to coarse, trends from coarse to fine.",
            halvings=0,
            blocks=0,
        ),
        _zoo(
            "TimesNet",
            "timesnet:TimesNet",
            "Features are folded into images, one period a row, and convolved along and across the periods.",
            TOGETHER,
            blocks=0,
        ),
        _zoo(
            "TimeMixer++",
            "timemixerpp:TimeMixerPP",
            "Every scale folded by the same periods: attention splits season and trend, convolutions mix scales.",
            TOGETHER,
            halvings=0,
            blocks=0,
        ),
        _zoo(
            "Ridge",
            "ridge:Ridge",
            "The linear map from lookback to horizon with the least squared error, solved without training.",
            SOLVED,
        ),
        _zoo(
            "Gaussian",
            "gaussian:Gaussian",
            "The mean of the horizon given the lookback, windows taken as Gaussian: the paper's Theorem 1.",
            SOLVED,
        ),
        _zoo(
            "LLMTime",
            "llmtime:LLMTime",
            "A language model continues each series as text, zero-shot: nothing is learnt but what its file holds.",
            ASKED,
        ),
    ]
)
