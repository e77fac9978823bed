# What a hostile repository may hold. The folder is that of tests/support/project.rs.
mv .env kept
git stash -q -u -- notes.txt draft.txt
# A commit with a secret, and one that renames it with a line changed.
git checkout -q -b leak
printf 'KEY=history\nA=1\nB=2\nC=3\nD=4\nE=5\nF=6\n' > .env
git add -f .env
git commit -qm 'add a secret'
git mv .env settings.txt
echo more >> settings.txt
git commit -qam 'rename it'
git tag renamed
cp settings.txt other.txt
git add other.txt
git commit -qm 'copy it'
git checkout -q main
# Tags of a blob and of a folder, plain and annotated.
git tag blob leak~2:.env
git tag -a -m x blob-note leak~2:.env
git tag folder 'leak~2^{tree}'
git stash pop -q
mv kept .env
# Files that are copied elsewhere.
mkdir -p vendor/.vscode vendor/github/instructions docs others config .github/workflows
echo rules > vendor/AGENTS.md
echo rules > vendor/copilot-instructions.md
echo rules > docs/copilot-instructions.md
echo rules > vendor/github/copilot-instructions.md
echo rules > vendor/github/instructions/x.md
echo '{}' > vendor/.vscode/tasks.json
echo x > vendor/plain.txt
echo 'on: push' > .github/workflows/ci.yml
git add docs .github
git commit -qm docs
mkdir -p vendor/sub
ln -s ../../others vendor/sub/.github
# A word that names a file with words.
echo .env > @words
# Rules that are links.
echo rules > linked.md
ln -s linked.md CLAUDE.md
mkdir rules
ln -s rules .clinerules
mkdir -p inst
ln -s ../inst .github/instructions
ln -s rules.md sub/AGENTS.md
# Names that are not UTF-8.
mkdir names
ln -s ../../outside.txt $'names/l\xff.txt'
echo a > $'names/s\xff.txt'
ln -s ../.git/hooks/post-commit $'names/w\xff'
