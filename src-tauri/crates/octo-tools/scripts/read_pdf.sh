#!/bin/bash
# VERSION: 1
# Prints the text of a PDF. Octo runs it when its own reader finds no text: read_pdf.sh FILE
# What it must do: print the text and end with 0; print what is missing to standard error and end with anything
# else. It may be changed: an update of Octo replaces it only while it is as it was shipped.
set -u
file=$1
here=$(cd "$(dirname "$0")" && pwd)
least=20

enough() {
  [ "$(printf %s "$1" | tr -d '[:space:]' | wc -c)" -ge "$least" ]
}

missing=""
if command -v pdftotext >/dev/null; then
  text=$(pdftotext -layout -enc UTF-8 -- "$file" - 2>/dev/null)
  if enough "$text"; then printf '%s\n' "$text"; exit 0; fi
else
  missing="$missing pdftotext (package poppler-utils)"
fi

if command -v python3 >/dev/null && python3 -c 'import pdfplumber' 2>/dev/null; then
  text=$(python3 - "$file" 2>/dev/null <<'PYTHON'
import sys
import pdfplumber

with pdfplumber.open(sys.argv[1]) as pdf:
    for number, page in enumerate(pdf.pages, 1):
        print(f"## Page {number}\n")
        print(page.extract_text() or "")
PYTHON
  )
  if enough "$text"; then printf '%s\n' "$text"; exit 0; fi
else
  missing="$missing pdfplumber (Python)"
fi

# Most likely pictures of pages.
if bash "$here/read_pdf_ocr.sh" "$file"; then exit 0; fi
[ -n "$missing" ] && echo "Not installed:$missing." >&2
exit 1
