//! Programs that show names and properties of files, and paths of programs.

use super::{Operands::*, ProgramRow};

#[rustfmt::skip]
pub(crate) const ROWS: &[ProgramRow] = &[
    ("basename", "-az -s=TEXT --multiple --zero --suffix=TEXT", Text),
    // `-P` and `-L` change what `..` means for the commands after it.
    ("cd", "", Folder),
    ("df", "-ahHiklmPT -txB=TEXT --all --human-readable --si --inodes --local --portability --print-type --total --output[=FIELDS] --type=TYPE --exclude-type=TYPE --block-size=SIZE --no-sync !--sync", Paths),
    // `-l` starts `pr`; `--to-file` and `--from-file` name files; `-X` takes patterns from one.
    ("diff", "-# -abBcdeEiNnpqrstTuwyZ -CUWxLI=TEXT --brief --color[=WHEN] --ignore-all-space --ignore-blank-lines --ignore-case --ignore-space-change --ignore-trailing-space --ignore-tab-expansion --ignore-matching-lines=TEXT --minimal --new-file --no-dereference --normal --recursive --report-identical-files --show-c-function --side-by-side --left-column --strip-trailing-cr --suppress-common-lines --text --unified[=NUM] --context[=NUM] --width=NUM --exclude=TEXT --label=TEXT --expand-tabs --initial-tab !-l !--paginate !--to-file=FILE !--from-file=FILE !-X=FILE !--exclude-from=FILE !-D=TEXT !--ifdef=TEXT !-S=FILE !--starting-file=FILE", Paths),
    ("dirname", "-z --zero", Text),
    // `-L` and `-D` follow links out of the folder; `-X` and `--files0-from` take names from a file.
    ("du", "-0abchHklmsSx -dtB=NUM --all --apparent-size --bytes --human-readable --max-depth=NUM --one-file-system --separate-dirs --si --summarize --threshold=NUM --time[=WORD] --time-style=TEXT --total --exclude=TEXT --block-size=NUM --inodes --null --count-links !-L !--dereference !-D !--dereference-args !-X=FILE !--exclude-from=FILE !--files0-from=FILE", Paths),
    // `-C` compiles, `-m` and `-f` take files, `-z` may start a decompressor.
    ("file", "-bhikLN0 --brief --mime --mime-type --mime-encoding --dereference --no-dereference --keep-going --extension --print0 --no-pad !-C !--compile !-f=FILE !--files-from=FILE !-m=FILE !--magic-file=FILE !-z !-Z !--uncompress !-s !--special-files !-S !--no-sandbox", Paths),
    // BSD's `-I`, `-T` and `-w` have no value, so the next word may be a path.
    ("ls", "-1aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ -ITw=FILE --all --almost-all --author --block-size=SIZE --classify[=WHEN] --color[=WHEN] --context --dereference --directory --escape --file-type --format=WORD --full-time --group-directories-first --hide=TEXT --human-readable --ignore=TEXT --ignore-backups --indicator-style=WORD --inode --kibibytes --literal --no-group --numeric-uid-gid --quote-name --quoting-style=WORD --recursive --reverse --si --size --sort=WORD --time=WORD --time-style=TEXT --width=NUM --zero !--hyperlink[=WHEN] !-D !--dired !--show-control-chars !--hide-control-chars !--dereference-command-line !--dereference-command-line-symlink-to-dir !--tabsize=NUM", Paths),
    ("pwd", "-LP --logical --physical", None),
    ("readlink", "-efmnz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --zero --quiet --silent --verbose", Paths),
    ("realpath", "-eLmPqsz --canonicalize-existing --canonicalize-missing --no-symlinks --strip --relative-to=FILE --relative-base=FILE --logical --physical --quiet --zero", Paths),
    ("stat", "-fLt -c=FORMAT --dereference --file-system --terse --format=FORMAT --printf=FORMAT --cached=MODE", Paths),
    // `-o` writes, and so does `-R` together with `-H`; `-l` follows links out of the folder.
    ("tree", "-aACdDfFghinNpqQrsStuUvx -ILP=TEXT --dirsfirst --du --filesfirst --gitignore --inodes --noreport --prune --si --filelimit=NUM --sort=WORD --charset=WORD", Paths),
    ("type", "-aftpP", Text),
    ("which", "-a --all", Text),
];
