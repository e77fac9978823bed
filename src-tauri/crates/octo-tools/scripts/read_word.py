#!/usr/bin/env python3
# VERSION: 1
"""Prints the text of a Word document: read_word.py FILE

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


def from_docx(path):
    """The paragraphs of the main part, read with nothing but what Python has."""
    with zipfile.ZipFile(path) as parts:
        root = ElementTree.fromstring(parts.read("word/document.xml"))
    lines = []
    for paragraph in root.iter():
        if paragraph.tag.endswith("}p"):
            text = "".join(node.text or "" for node in paragraph.iter() if node.tag.endswith("}t"))
            if text.strip():
                lines.append(text)
    return "\n\n".join(lines)


def from_program(*command):
    if not shutil.which(command[0]):
        return ""
    done = subprocess.run(command, capture_output=True, timeout=100)
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


def from_office(path):
    office = shutil.which("soffice") or shutil.which("libreoffice")
    if not office:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        command = [office, f"-env:UserInstallation=file://{folder}/profile", "--headless", "--convert-to",
                   "txt:Text (encoded):UTF8", "--outdir", folder, path]
        subprocess.run(command, capture_output=True, timeout=100)
        texts = list(Path(folder).glob("*.txt"))
        return texts[0].read_text("utf-8", "replace") if texts else ""


def main(path):
    if zipfile.is_zipfile(path):
        ways = [lambda: from_docx(path), lambda: from_office(path)]
    else:
        ways = [lambda: from_program("antiword", "-m", "UTF-8.txt", path),
                lambda: from_program("catdoc", "-d", "utf-8", path),
                lambda: from_program("textutil", "-convert", "txt", "-stdout", path),
                lambda: from_office(path)]
    for way in ways:
        try:
            text = way()
        except Exception:
            continue
        if re.search(r"\w", text):
            print(text)
            return 0
    print("No text. Old documents need antiword, catdoc or LibreOffice; none of them gave any.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
