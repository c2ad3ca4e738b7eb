"""Puts together a text to train on: python3 corpus.py CLONES TEXT (some minutes).

CLONES holds git clones of the repositories below, each in a folder of its name. Writes TEXT/train.txt and
TEXT/valid.txt; by works, 2 % of each source are held out. What is drawn depends on SEED alone.
"""

import hashlib
import html
import io
import itertools
import random
import re
import subprocess
import sys
import unicodedata
import xml.etree.ElementTree
import zipfile
from pathlib import Path

SEED = 1
PLAIN = {"“": '"', "”": '"', "‘": "'", "’": "'", "…": "..."}
PLAIN = str.maketrans(PLAIN | {"\u00a0": " ", "\t": " ", "\r": "", "\u00ad": "", "\ufeff": ""})


def git(clone, *command):
    return subprocess.run(["git", "-C", clone, *command], stdout=subprocess.PIPE, check=True).stdout


def files(clones, name, commit, under, end):
    """Yields path and bytes of a commit's files of up to 4 MB each, in an order drawn from SEED."""
    listed = git(clones / name, "ls-tree", "-r", "-z", "-l", commit, under).decode().split("\0")
    found = (line.partition("\t") for line in listed if line)
    sizes = {path: about.split()[3] for about, _, path in found if path.endswith(end)}
    paths = sorted(path for path, size in sizes.items() if size.isdigit() and int(size) <= 4_000_000)
    random.Random(SEED).shuffle(paths)
    for path in paths:
        yield path, git(clones / name, "show", f"{commit}:{path}")


def tidy(text):
    """One paragraph: plain quotes, single spaces, no marks of emphasis, footnotes or addresses."""
    text = unicodedata.normalize("NFC", html.unescape(text)).translate(PLAIN)
    text = re.sub(r"\[(\d+|Footnote[^\]]*|Illustration[^\]]*)\]|https?://\S+|<[^>]{1,80}>", "", text)
    text = re.sub(r"[*_]+", "", re.sub(r"\s*-{2,}\s*", "—", text))
    return re.sub(r"\s+", " ", text).strip()


def paragraphs(text):
    found = (tidy(part) for part in re.split(r"\n\s*\n", text))
    return [part for part in found if part and "gutenberg" not in part.lower()]


def is_prose(parts):
    short = sum(len(part) for part in parts if len(part) < 60)
    return sum(map(len, parts)) > 3000 and short < 0.3 * sum(map(len, parts))


def middle(parts, limit):
    """Paragraphs from the middle of a work, of some limit bytes."""
    ends = list(itertools.accumulate(len(part.encode()) for part in parts))
    skipped = max(0, (ends[-1] - limit) // 2) if ends else 0
    return [part for part, end in zip(parts, ends) if skipped <= end <= skipped + limit]


def books(clones):
    for path, raw in files(clones, "classic-books-markdown", "944882722e", ".", ".md"):
        text = raw.decode("utf-8", "replace")
        year = re.search(r"^## Year:\s*(-?\d+)", text, re.M)
        if year and int(year[1]) <= 1930:
            body = re.split(r"^-{5,}\s*$", text, maxsplit=1, flags=re.M)[-1]
            yield path, middle(paragraphs(re.sub(r"^[#>]+ *", "", body, flags=re.M)), 260_000)


def novels(clones):
    for path, raw in files(clones, "100_english_novels", "143e601875", "corpus", ".txt"):
        if not re.search(r"_193\d\.txt$", path):
            yield path, middle(paragraphs(raw.decode("utf-8", "replace")), 360_000)


def articles(clones):
    article = re.compile(r'<doc id="(\d+)"[^>]*title="([^"]*)">\n(.*?)\n</doc>', re.S)
    for _, raw in files(clones, "WikiTasks", "52b1f16313", "text", ""):
        for number, title, body in article.findall(raw.decode("utf-8", "replace")):
            lines = (line for line in body.split("\n")[1:] if not re.search(r"formula_|[|{}]|^[*#:]", line))
            lines = [tidy(line) for line in lines]
            lines = [line for line in lines if len(line.split()) >= 8 and line[-1] in ".!?\"')"]
            text = "".join(lines)
            digits = sum(map(str.isdigit, text))
            if len(text) > 800 and digits < 0.06 * len(text) and not title.startswith("List"):
                yield number, [tidy(title), *lines]


def textbooks(clones):
    for name, commit in (
        ("osbooks-life-liberty-and-pursuit-happiness", "acb6fbe274"),
        ("osbooks-introduction-anthropology", "418eedd9be"),
    ):
        for path, raw in files(clones, name, commit, "modules", ".cnxml"):
            found = xml.etree.ElementTree.fromstring(raw).iter("{http://cnx.rice.edu/cnxml}para")
            parts = [tidy("".join(part.itertext())) for part in found]
            yield path, [part for part in parts if len(part.split()) >= 12]


def speeches(clones):
    for name in ("state_union", "inaugural"):
        archive = git(clones / "nltk_data", "show", f"5db857e6f7:packages/corpora/{name}.zip")
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            for path in sorted(opened.namelist()):
                if path.endswith(".txt"):
                    yield path, paragraphs(opened.read(path).decode("cp1252", "replace"))


def documents(parts, size=24_000):
    """A work's paragraphs in documents of about a size."""
    found = [[]]
    for part in parts:
        if sum(map(len, found[-1])) > size:
            found.append([])
        found[-1].append(part)
    return ["\n\n".join(document) for document in found if sum(map(len, document)) >= 400]


def new(document, seen):
    """Whether most runs of ten words were not seen before; notes them. One run in eight is looked at."""
    words = re.findall(r"[a-z]+", document.lower())
    runs = (hashlib.md5(" ".join(words[i : i + 10]).encode()).digest()[:8] for i in range(len(words) - 9))
    runs = {run for run in runs if run[0] < 32}
    known = len(runs & seen)
    if known > 0.15 * len(runs):
        return False
    seen |= runs
    return True


def main(clones, out):
    train, valid, seen = [], [], set()
    budgets = {books: 68e6, novels: 27e6, articles: 36e6, textbooks: 1e9, speeches: 1e9}
    for source, budget in budgets.items():
        works, size = [], 0
        for _, parts in source(Path(clones)):
            if size > budget:
                break
            if not is_prose(parts) and source in (books, novels):
                continue
            work = [document for document in documents(parts) if new(document, seen)]
            works.append(work)
            size += sum(len(document.encode()) for document in work)
        held, taken = random.Random(SEED).sample(range(len(works)), len(works)), 0
        for index in held:
            goes = valid if taken < 0.02 * size else train
            goes.extend(works[index])
            taken += sum(len(document.encode()) for document in works[index])
        print(f"{source.__name__}: {len(works)} works, {size / 1e6:.1f} MB")
    for name, found in (("train", train), ("valid", valid)):
        random.Random(SEED).shuffle(found)
        Path(out, f"{name}.txt").write_text("".join(f"{text}\n<|doc|>\n" for text in found), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
