"""Checks the built site: all internal links work, and no page loads anything from another site.

    python docs/tools/check_links.py build/docs
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADING = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "srcset"}
# Relations to other pages, which a browser does not load.
RELATIONS = {"next", "prev", "index", "search", "author", "canonical", "genindex"}
CSS_URL = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.loaded, self.anchors, self.without_text = [], [], set(), []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        for name in ("id", "name"):
            if given.get(name):
                self.anchors.add(given[name])
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag == "img" and not given.get("alt"):
            self.without_text.append(given.get("src"))
        if tag in LOADING and given.get(LOADING[tag]):
            if tag == "link" and RELATIONS & set((given.get("rel") or "").split()):
                self.links.append(given["href"])
            else:
                self.loaded.append(given[LOADING[tag]])


def _is_elsewhere(link):
    parts = urlsplit(link)
    return bool(parts.netloc) or parts.scheme not in ("", "data", "file")


def _problems_of_links(path, page, pages):
    for link in page.links + page.loaded:
        if _is_elsewhere(link) or link.startswith("data:"):
            continue
        parts = urlsplit(link)
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if target.is_dir():
            yield f"{link}: is a folder, of which a browser shows only a list"
        elif not target.exists():
            yield f"{link}: does not exist"
        elif parts.fragment and target in pages and (
                unquote(parts.fragment) not in pages[target].anchors):
            yield f"{link}: has no such anchor"


def problems(site):
    site = site.resolve()
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))
             if "_static" not in path.parts and "_downloads" not in path.parts}
    for path, page in pages.items():
        name = path.relative_to(site)
        yield from (f"{name}: {problem}" for problem in _problems_of_links(path, page, pages))
        yield from (f"{name}: loads {link} from another site"
                    for link in page.loaded if _is_elsewhere(link))
        yield from (f"{name}: the picture {source} has no alternative text"
                    for source in page.without_text)
    for path in site.rglob("*.css"):
        for match in CSS_URL.finditer(path.read_text()):
            if _is_elsewhere(match[1] or match[2]):
                yield f"{path.relative_to(site)}: loads {match[1] or match[2]} from another site"


def main():
    found = list(problems(Path(sys.argv[1])))
    for problem in found:
        print(problem, file=sys.stderr)
    print(f"links: {len(found)} broken")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
