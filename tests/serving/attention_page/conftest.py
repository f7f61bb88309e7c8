"""A browser without a window."""

import os
import shutil

import pytest


@pytest.fixture(scope="session")
def browser():
    """Chromium, driven by selenium; its tests are skipped where one of them is missing."""
    selenium = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    paths = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if None in paths:
        pytest.skip("no chromium with its chromedriver: apt-get install chromium chromium-driver")
    options = selenium.ChromeOptions()
    options.binary_location = paths[0]
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    arguments = [
        "--headless=new",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--window-size=1300,950",
    ]
    if os.getuid() == 0:
        arguments.append("--no-sandbox")  # which the superuser cannot have
    for argument in arguments:
        options.add_argument(argument)
    driver = selenium.Chrome(options, selenium.ChromeService(paths[1]))
    yield driver
    driver.quit()
