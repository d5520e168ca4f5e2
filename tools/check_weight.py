"""Is the core light? Its wheels without torch under 50 MB, `import olinear` under 0.5 s beyond torch's own.

`make check-weight` runs it in the project's environment; it downloads the core's wheels to weigh them.
"""

import re
import subprocess
import sys
import tempfile
from importlib.metadata import distribution
from pathlib import Path

MAX_MEGABYTES, MAX_SECONDS = 50.0, 0.5


def requirements(name: str) -> set[str]:
    """Names a distribution needs without extras, on this machine."""
    from packaging.requirements import Requirement

    found = set()
    for line in distribution(name).requires or []:
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            found.add(re.sub(r"[-_.]+", "-", requirement.name).lower())
    return found


def closure(names: set[str], without: frozenset[str] = frozenset()) -> set[str]:
    """Those names and all they need, but for `without`."""
    seen: set[str] = set()
    todo = names - without
    while todo:
        name = todo.pop()
        seen.add(name)
        todo |= requirements(name) - seen - without
    return seen


def weigh_wheels() -> float:
    """Megabytes of the core's wheels, without torch and what torch itself brings."""
    core = sorted(closure(requirements("olinear"), frozenset({"torch"})) - closure({"torch"}))
    pins = [f"{name}=={distribution(name).version}" for name in core]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, *pins], check=True)
        sizes = {path.name: path.stat().st_size / 1e6 for path in Path(folder).iterdir()}
    for name, size in sorted(sizes.items(), key=lambda item: -item[1]):
        print(f"{size:8.2f} MB  {name}")
    return sum(sizes.values())


def time_import(then: str = "pass") -> float:
    """Seconds of `import olinear` and of what is done `then`, after `import torch`; the best of five processes."""
    code = (
        f"import torch, time; start = time.perf_counter(); import olinear; {then}; print(time.perf_counter() - start)"
    )
    runs = [subprocess.run([sys.executable, "-c", code], check=True, capture_output=True) for _ in range(5)]
    return min(float(run.stdout) for run in runs)


def main() -> None:
    megabytes, seconds = weigh_wheels(), time_import()
    print(f"core wheels without torch: {megabytes:.1f} MB (at most {MAX_MEGABYTES:.0f})")
    print(f"import olinear beyond torch: {seconds:.3f} s (at most {MAX_SECONDS})")
    print(f"import olinear and its Forecaster: {time_import('olinear.Forecaster'):.2f} s, most of it pandas")
    sys.exit(megabytes > MAX_MEGABYTES or seconds > MAX_SECONDS)


if __name__ == "__main__":
    main()
