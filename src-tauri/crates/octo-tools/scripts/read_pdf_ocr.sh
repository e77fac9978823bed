#!/bin/bash
# VERSION: 1
# Prints the text in the pictures of a scanned PDF: read_pdf_ocr.sh FILE
# OCR_LANG, OCR_MAX_PAGES and OCR_DPI change what is recognised, how far and how finely.
set -u
file=$1
languages=${OCR_LANG:-}
pages=${OCR_MAX_PAGES:-50}
dpi=${OCR_DPI:-200}

for tool in pdftoppm tesseract; do
  if ! command -v "$tool" >/dev/null; then
    echo "Not installed: $tool. Scanned pages need pdftoppm (package poppler-utils) and tesseract (package tesseract-ocr)." >&2
    exit 1
  fi
done
if [ -z "$languages" ]; then
  known=$(tesseract --list-langs 2>/dev/null)
  for language in eng chi_sim; do
    if printf '%s\n' "$known" | grep -qx "$language"; then languages="${languages:+$languages+}$language"; fi
  done
fi

folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
if ! pdftoppm -r "$dpi" -l "$pages" -png -- "$file" "$folder/page" 2>/dev/null; then
  echo "pdftoppm cannot turn the pages into pictures." >&2
  exit 1
fi
found=""
number=0
for picture in "$folder"/page*.png; do
  [ -e "$picture" ] || break
  number=$((number + 1))
  text=$(tesseract "$picture" - ${languages:+-l "$languages"} 2>/dev/null)
  printf '## Page %s\n\n%s\n\n' "$number" "$text"
  found="$found$text"
done
if [ "$(printf %s "$found" | tr -d '[:space:]' | wc -c)" -lt 20 ]; then
  echo "No text was recognised in $number pages." >&2
  exit 1
fi
