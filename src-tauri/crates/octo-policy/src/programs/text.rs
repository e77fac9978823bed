//! Programs that print files or parts of files.

use super::{Operands::*, ProgramRow};

#[rustfmt::skip]
pub(crate) const ROWS: &[ProgramRow] = &[
    // `--check` takes the names of files from a file.
    ("b2sum", "-btz -l=NUM --binary --text --tag --zero --length=NUM !--check !-c --quiet --status --strict --warn -w --ignore-missing", Paths),
    ("base64", "-di -w=NUM --decode --ignore-garbage --wrap=NUM", Paths),
    ("cat", "-AbeEnstTuv --number --number-nonblank --show-all --show-ends --show-nonprinting --show-tabs --squeeze-blank", Paths),
    ("cksum", "", Paths),
    ("cmp", "-bls -in=NUM --print-bytes --silent --quiet --verbose --bytes=NUM --ignore-initial=NUM", Paths),
    ("column", "-enxRJ -t -sco=TEXT --table --separator=TEXT --output-separator=TEXT --columns=NUM --fillrows", Paths),
    ("comm", "-123z --check-order --nocheck-order --total --zero-terminated --output-delimiter=TEXT", Paths),
    ("cut", "-nsz -bcdf=TEXT --bytes=LIST --characters=LIST --fields=LIST --delimiter=TEXT --complement --only-delimited --output-delimiter=TEXT --zero-terminated", Paths),
    ("expand", "-i -t=NUM --initial --tabs=LIST", Paths),
    ("fold", "-bs -w=NUM --bytes --spaces --width=NUM", Paths),
    ("head", "-# -qvz -nc=NUM --quiet --silent --verbose --zero-terminated --lines=NUM --bytes=NUM", Paths),
    // `-f` takes formats from a file. BSD's has no long options.
    ("hexdump", "-bCcdovx -ns=NUM !-f=FILE !-e=TEXT --canonical --one-byte-octal --one-byte-char --one-byte-hex -X --two-bytes-decimal --two-bytes-octal --two-bytes-hex --no-squeezing --length=NUM --skip=NUM !--format=TEXT !--format-file=FILE", Paths),
    ("join", "-iz -12aejotv=TEXT --check-order --nocheck-order --header --ignore-case --zero-terminated", Paths),
    ("md5sum", "-btz --binary --text --tag --zero !--check !-c", Paths),
    ("nl", "-p -bfhisvnwd=TEXT --body-numbering=TEXT --number-format=TEXT --number-separator=TEXT --number-width=NUM", Paths),
    // GNU's `-w` and `--width` take no next word.
    ("od", "-bcdfilosxv -AjNt=TEXT -w[BYTES] --address-radix=TEXT --format=TEXT --skip-bytes=NUM --read-bytes=NUM --output-duplicates --width[=BYTES]", Paths),
    ("paste", "-sz -d=LIST --delimiters=LIST --serial --zero-terminated", Paths),
    ("rev", "-0 --zero", Paths),
    ("sha1sum", CHECKSUM_OPTIONS, Paths),
    ("sha224sum", CHECKSUM_OPTIONS, Paths),
    ("sha256sum", CHECKSUM_OPTIONS, Paths),
    ("sha384sum", CHECKSUM_OPTIONS, Paths),
    ("sha512sum", CHECKSUM_OPTIONS, Paths),
    // `-o` writes, `--compress-program` starts a program, `-T` says where to write, `--files0-from` takes names
    // from a file, and `--random-source` reads one.
    ("sort", "-bcCdfghiMmnrRsuVz -kt=TEXT --check[=HOW] --dictionary-order --field-separator=TEXT --general-numeric-sort --human-numeric-sort --ignore-case --ignore-leading-blanks --ignore-nonprinting --key=KEY --merge --month-sort --numeric-sort --random-sort --reverse --sort=HOW --stable --unique --version-sort --zero-terminated !-o=FILE !--output=FILE !-T=FILE !--temporary-directory=FILE !-S=NUM !--buffer-size=NUM !--compress-program=PROGRAM !--files0-from=FILE !--random-source=FILE !--batch-size=NUM !--parallel=NUM !--debug", Paths),
    // Every program of GNU's binutils replaces a word `@file` with the words in that file.
    ("strings", "-afow -ntes=TEXT --all --bytes=NUM --radix=TEXT --print-file-name --encoding=TEXT", PathsOrResponseFiles),
    ("tac", "-br -s=TEXT --before --regex --separator=TEXT", Paths),
    // A `tail` that follows a file never ends, so it asks.
    ("tail", "-# -qvz -nc=NUM --quiet --silent --verbose --zero-terminated --lines=NUM --bytes=NUM !-f !-F !--follow[=HOW] !--retry !--pid=NUM !--sleep-interval=NUM !-s=NUM !--max-unchanged-stats=NUM", Paths),
    ("tr", "-cCdst --complement --delete --squeeze-repeats --truncate-set1", Text),
    ("unexpand", "-a -t=NUM --all --first-only --tabs=LIST", Paths),
    // The second operand is written.
    ("uniq", "-cdDiuz -fsw=NUM --count --repeated --all-repeated[=HOW] --group[=HOW] --ignore-case --unique --zero-terminated --skip-fields=NUM --skip-chars=NUM --check-chars=NUM", AtMost(1)),
    ("wc", "-clLmw --bytes --chars --lines --max-line-length --words --total=WHEN !--files0-from=FILE", Paths),
    // The second operand is written. `-r` reads a dump back, into a file that need not be new.
    ("xxd", "-abeEipu -cglso=NUM !-r", AtMost(1)),
];

/// The options of the programs that print checksums. Those that take names from a file are refused.
const CHECKSUM_OPTIONS: &str = "-btz --binary --text --tag --zero !--check !-c !--ignore-missing !--quiet !--status !--strict !--warn !-w";
