#!/usr/bin/env python3
"""Build the site of the documentation, and look for dead links in it: docs/build.py FOLDER. `./dev docs` calls it."""

import html.parser
import pathlib
import sys
import urllib.parse

from sphinx.cmd.build import build_main


class Page(html.parser.HTMLParser):
    """What a page links to, and the places in it that can be linked to."""

    def __init__(self, file):
        super().__init__()
        self.links, self.places = [], set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        """Note one element."""
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.links.append((tag, value))
            elif name == "id" or (name == "name" and tag == "a"):
                self.places.add(value)


def dead_links(folder):
    """Find the links within a site that lead nowhere, and what pages would load from elsewhere.

    Returns
    -------
    dead : list of str
        Page and link.
    """
    folder = folder.resolve()
    pages = {file: Page(file) for file in sorted(folder.rglob("*.html"))}
    dead = []
    for file, page in pages.items():
        for tag, link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                if tag != "a" and parts.scheme != "data":  # a network may not be there
                    dead.append(f"{file.relative_to(folder)}: loads {link}")
                continue
            target = (file.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else file
            place = urllib.parse.unquote(parts.fragment)
            is_found = target.is_file() and (not place or target not in pages or place in pages[target].places)
            if not is_found:
                dead.append(f"{file.relative_to(folder)}: {link}")
    return dead


def build(folder):
    """Build the site; any warning of Sphinx, dead references among them, is an error."""
    sources = pathlib.Path(__file__).parent
    arguments = ["-b", "html", "-W", "--keep-going", "-q", "-d", str(folder / ".doctrees"), str(sources), str(folder)]
    if build_main(arguments) != 0:
        return ["Sphinx had warnings; they are above"]
    return dead_links(folder)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if problems := build(pathlib.Path(sys.argv[1])):
        sys.exit("dead links:\n" + "\n".join(problems))
