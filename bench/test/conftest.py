import skipped

pytest_sessionfinish = skipped.pytest_sessionfinish
