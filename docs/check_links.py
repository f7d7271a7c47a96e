"""Check that every link inside the built pages leads somewhere: python docs/check_links.py FOLDER.

Links to other sites are checked for their form only. Scripts, styles and pictures must come with the pages, which are
read without a network too.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit


class Page(HTMLParser):
    """The links of one page, and the places in it that links can lead to."""

    def __init__(self) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.fetched: set[str] = set()  # what a browser asks for by itself
        self.places: set[str] = {"", "top"}

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for key, value in attributes:
            if value and (key == "id" or (tag == "a" and key == "name")):
                self.places.add(value)
            elif value and key in ("href", "src"):
                self.links.add(value)
                if key == "src" or tag == "link":
                    self.fetched.add(value)


def broken(folder: Path) -> list[str]:
    """Every internal link of the HTML files in `folder` without a file or a place behind it."""
    pages: dict[Path, Page] = {}
    for path in folder.rglob("*.html"):
        if "_static" in path.parts:  # templates of the theme
            continue
        pages[path.resolve()] = page = Page()
        page.feed(path.read_text(encoding="utf-8"))
    found = []
    for path, page in pages.items():
        for link in page.links:
            target, place = urldefrag(link)
            if "://" in target or target.startswith(("mailto:", "data:", "javascript:", "//")):
                if not target.startswith("data:") and link in page.fetched:
                    found.append(f"{path.relative_to(folder.resolve())}: {link} is fetched from elsewhere")
                elif "://" in target and not ("." in urlsplit(target).netloc and target.isascii()):
                    found.append(f"{path.relative_to(folder.resolve())}: {link} is not an address")
                continue
            file = (path.parent / unquote(target.partition("?")[0])).resolve() if target else path
            if not file.exists():
                found.append(f"{path.relative_to(folder.resolve())}: {link} is no file")
            elif file in pages and unquote(place) not in pages[file].places:
                found.append(f"{path.relative_to(folder.resolve())}: {link} has no such place")
    return sorted(found)


if __name__ == "__main__":
    problems = broken(Path(sys.argv[1]))
    print(*problems, sep="\n")
    print(f"links: {len(problems)} are broken" if problems else "links: every one leads somewhere")
    sys.exit(bool(problems))
