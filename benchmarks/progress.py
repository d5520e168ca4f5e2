"""What the progress line costs, as a share of the run: `python benchmarks/progress.py`. Fails at 2 % or more.

A small model (steps of a few milliseconds) is trained with the line drawn on a pseudo-terminal. All of its work
happens inside `TrainingProgress.show`, so the share is the time spent there over the time of the run.
"""

import os
import pty
import sys
import threading
import time

import numpy as np

from olinear.data.windows import Windows
from olinear.nn import OLinear
from olinear.training import TrainingConfig, train
from olinear.training.progress import TrainingProgress

MOST = 0.02


class Timed:
    """`show`, and the seconds spent in it."""

    def __init__(self) -> None:
        self.seconds, self.calls, self.show = 0.0, 0, TrainingProgress.show

    def __call__(self, *arguments: object, **options: object) -> None:
        started = time.perf_counter()
        self.show(*arguments, **options)
        self.seconds += time.perf_counter() - started
        self.calls += 1


def main() -> None:
    reader, writer = pty.openpty()
    threading.Thread(target=_drain, args=(reader,), daemon=True).start()
    sys.stderr = os.fdopen(writer, "w")
    timed = Timed()
    TrainingProgress.show = lambda *arguments, **options: timed(*arguments, **options)
    values = np.random.default_rng(0).normal(size=(3200, 7)).cumsum(0).astype(np.float32)
    model = OLinear.for_data(values, 96, 24, model_dim=64)
    report = train(model, Windows(values, 96, 24), None, TrainingConfig(max_epochs=5))
    share = timed.seconds / report.seconds
    print(f"progress line: {share:.2%} of {report.seconds:.1f} s, {timed.calls} steps (at most {MOST:.0%})")
    sys.exit(share >= MOST)


def _drain(descriptor: int) -> None:
    while os.read(descriptor, 65536):
        pass


if __name__ == "__main__":
    main()
