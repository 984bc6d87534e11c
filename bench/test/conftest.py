import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "support"))

import scratch  # noqa: E402
import skipped  # noqa: E402

scratch.enter()

pytest_sessionfinish = skipped.pytest_sessionfinish
