import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "support"))

import skipped  # noqa: E402

pytest_sessionfinish = skipped.pytest_sessionfinish
