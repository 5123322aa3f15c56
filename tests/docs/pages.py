"""Writes the pages that are made from the source: `python -m tests.docs.pages`."""

from tests.docs import api_page, codes_page, options_page
from tests.lang import errors_page

if __name__ == "__main__":
    for page in (api_page, codes_page, options_page):
        page.PAGE.write_text(page.write_page())
    errors_page.PAGE.write_text(errors_page.page())
