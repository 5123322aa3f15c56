"""A real browser for tests: Debian's Chromium, without a window."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import pytest
from selenium import webdriver

OPTIONS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
    "--window-size=1280,900", "--disable-background-networking", "--force-color-profile=srgb",
)  # fmt: skip
FIND = """
const found = [];
const visit = root => { root.querySelectorAll('*').forEach(each => {
  if (each.matches(arguments[0])) found.push(each.textContent.trim());
  if (each.shadowRoot) visit(each.shadowRoot); }) };
visit(document);
return found;
"""
"""The texts of all elements that a selector finds, also inside Bokeh's shadow roots."""
DRAWN = """
let drawn = 0;
const visit = root => root.querySelectorAll('*').forEach(each => {
  if (each.tagName === 'CANVAS' && each.width && each.height) {
    const pixels = each.getContext('2d').getImageData(0, 0, each.width, each.height).data;
    if (new Set(new Uint32Array(pixels.buffer)).size > 5) drawn++; }
  if (each.shadowRoot) visit(each.shadowRoot); });
visit(document);
return drawn;
"""
"""How many canvases have something drawn on them."""
Found = TypeVar("Found")


class Browser:
    """A page, and what one sees on it."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def texts(self, selector: str) -> list[str]:
        return list(self.driver.execute_script(FIND, selector))

    def drawn(self) -> int:
        return int(self.driver.execute_script(DRAWN))

    def complaints(self) -> list[str]:
        """Return the errors and warnings of the browser's console, but for the icon that no page has."""
        said = [each for each in self.driver.get_log("browser") if each["level"] in ("SEVERE", "WARNING")]
        return [each["message"] for each in said if "favicon" not in each["message"]]

    def screenshot(self, path: str) -> None:
        """Take a picture of the whole page, 1280 pixels wide."""
        height = self.driver.execute_script("return document.documentElement.scrollHeight")
        self.driver.set_window_size(1280, height + 140)
        time.sleep(1)
        self.driver.save_screenshot(path)
        self.driver.set_window_size(1280, 900)


def wait_for(seen: Callable[[], Found], seconds: float = 30) -> Found:
    """Return what is seen as soon as it is there."""
    end = time.monotonic() + seconds
    while not (found := seen()):
        assert time.monotonic() < end, "it did not appear"
        time.sleep(0.1)
    return found


@contextmanager
def opened() -> Iterator[Browser]:
    """Start the browser; it must be installed, as set-up does."""
    chromium, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (chromium and chromedriver):
        pytest.fail("this test needs a browser: apt-get install chromium chromium-driver (make setup does it)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for each in OPTIONS:
        options.add_argument(each)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(chromedriver))
    try:
        yield Browser(driver)
    finally:
        driver.quit()
