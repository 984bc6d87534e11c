import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "support"))

import scratch  # noqa: E402
import skipped  # noqa: E402

scratch.enter()

pytest_collection_modifyitems = skipped.pytest_collection_modifyitems
pytest_runtest_setup = skipped.pytest_runtest_setup
pytest_sessionfinish = skipped.pytest_sessionfinish
