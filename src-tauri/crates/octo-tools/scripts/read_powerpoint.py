#!/usr/bin/env python3
# VERSION: 1
"""Prints the text of a PowerPoint presentation: read_powerpoint.py FILE

Octo runs it when its own reader fails, and for the format before 2007. What it must do: print the text and end
with 0; print what is missing to standard error and end with anything else. It may be changed.
"""
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from xml.etree import ElementTree


def slides(path):
    """The paragraphs of each slide, read with nothing but what Python has."""
    with zipfile.ZipFile(path) as parts:
        names = [name for name in parts.namelist() if re.fullmatch(r"ppt/slides/slide\d+\.xml", name)]
        names.sort(key=lambda name: int(re.search(r"\d+", name).group()))
        lines = []
        for number, name in enumerate(names, 1):
            lines.append(f"## Slide {number}\n")
            for paragraph in ElementTree.fromstring(parts.read(name)).iter():
                if paragraph.tag.endswith("}p"):
                    text = "".join(node.text or "" for node in paragraph.iter() if node.tag.endswith("}t"))
                    if text.strip():
                        lines.append(f"- {text}")
            lines.append("")
    return "\n".join(lines)


def catppt(path):
    if not shutil.which("catppt"):
        return ""
    done = subprocess.run(["catppt", "-d", "utf-8", path], capture_output=True, timeout=100)
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


def modern(path):
    """The presentation in the newer format, by LibreOffice."""
    office = shutil.which("soffice") or shutil.which("libreoffice")
    if not office:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        command = [office, f"-env:UserInstallation=file://{folder}/profile", "--headless", "--convert-to", "pptx",
                   "--outdir", folder, path]
        subprocess.run(command, capture_output=True, timeout=100)
        found = list(Path(folder).glob("*.pptx"))
        return slides(found[0]) if found else ""


def main(path):
    for way in (slides, modern) if zipfile.is_zipfile(path) else (catppt, modern):
        try:
            text = way(path)
        except Exception:
            continue
        if re.search(r"\w", text):
            print(text)
            return 0
    print("No text. Old presentations need catppt (package catdoc) or LibreOffice.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
