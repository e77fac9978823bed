#!/usr/bin/env python3
# VERSION: 1
"""Prints the tables of a spreadsheet: read_excel.py FILE

Octo runs it when its own reader fails. What it must do: print the text and end with 0; print what is missing to
standard error and end with anything else. It may be changed.
"""
import csv
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def show(name, rows):
    rows = [["" if cell is None else str(cell).replace("|", "\\|").replace("\n", "<br>") for cell in row] for row in rows]
    rows = [row for row in rows if any(row)]
    if not rows:
        return f"### {name}\n\n(empty)\n"
    lines = [f"### {name}\n"]
    for at, row in enumerate(rows):
        lines.append("| " + " | ".join(row) + " |")
        if at == 0:
            lines.append("|" + " --- |" * len(row))
    return "\n".join(lines) + "\n"


def with_openpyxl(path):
    import openpyxl

    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    return "\n".join(show(sheet.title, sheet.iter_rows(values_only=True)) for sheet in book)


def with_xlrd(path):
    import xlrd

    book = xlrd.open_workbook(path)
    return "\n".join(show(sheet.name, (sheet.row_values(at) for at in range(sheet.nrows))) for sheet in book.sheets())


def with_office(path):
    office = shutil.which("soffice") or shutil.which("libreoffice")
    if not office:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        # Minus one at the end: every sheet in a file of its own.
        form = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1"
        command = [office, f"-env:UserInstallation=file://{folder}/profile", "--headless", "--convert-to", form,
                   "--outdir", folder, path]
        subprocess.run(command, capture_output=True, timeout=100)
        tables = sorted(Path(folder).glob("*.csv"))
        return "\n".join(show(table.stem, csv.reader(table.open(encoding="utf-8", newline=""))) for table in tables)


def main(path):
    for way in (with_openpyxl, with_xlrd, with_office):
        try:
            text = way(path)
        except Exception:
            continue
        if text.strip():
            print(text)
            return 0
    print("No table. Needed is one of: openpyxl (Python), xlrd (Python), LibreOffice.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
