#!/usr/bin/env bash
# Makes out/ from articles/, anew each time.
set -euo pipefail
cd "$(dirname "$0")"
export LC_ALL=C
rm -rf out
mkdir out
tab=$(printf '\t')
: > out/problems.txt

head_of() { sed -n "2,/^---\$/s/^$2: //p" "$1"; }
escaped() { sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g'; }

for file in articles/*.md; do
  name=$(basename "$file" .md)
  [ "$(head_of "$file" status)" = published ] || continue
  date=$(head_of "$file" date)
  if ! printf '%s\n' "$date" | grep -Eq '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$'; then
    echo "$name.md: its date is $date" >> out/problems.txt
    continue
  fi
  title=$(head_of "$file" title)
  {
    echo "<h1>$(printf '%s' "$title" | escaped)</h1>"
    awk 'seen == 2 { print } /^---$/ { seen++ }' "$file" | escaped |
      awk 'BEGIN { RS = "" } { gsub(/\n/, " "); print "<p>" $0 "</p>" }'
  } > "out/$name.html"
  printf '%s\n' "$date$tab$name$tab$title$tab$(head_of "$file" author)"
done | sort -r > out/index.tsv
