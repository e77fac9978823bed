//! Programs that show the state of the system, and builtins of the shell that only print.

use super::{LanguageReader, Operands::*, ProgramRow};

#[rustfmt::skip]
pub(crate) const ROWS: &[ProgramRow] = &[
    // `-s` and `--set` set the clock, `-f` takes dates from a file. BSD's `-f` is a format for setting it.
    ("date", "-uIR -d=TEXT -r=FILE --utc --universal --rfc-email --iso-8601[=WHAT] --rfc-3339=WHAT --date=TEXT --reference=FILE !-s=TEXT !--set=TEXT !-f=FILE !--file=FILE !--debug !--resolution", DateFormat),
    ("echo", "", OnlyText),
    ("false", "", OnlyText),
    ("free", "-bkmghtw --bytes --kibi --mebi --gibi --kilo --human --mega --giga --total --wide --si !-s=NUM !--seconds=NUM !-c=NUM !--count=NUM", None),
    ("groups", "", None),
    // An operand would set the name.
    ("hostname", "-fsidI --fqdn --long --short --ip-address --all-ip-addresses --domain !-F=FILE !--file=FILE !-b !--boot", None),
    ("id", "-agGnruzZ --user --group --groups --name --real --zero --context", Text),
    ("locale", "", Only(&[&[], &["-a"], &["-m"]])),
    // Without `-u` it creates a file.
    ("mktemp", "", Only(&[&["-u"]])),
    ("nproc", "--all --ignore=NUM", None),
    ("printenv", "", Language(LanguageReader::Printenv)),
    ("ps", "", Language(LanguageReader::Ps)),
    ("seq", "-w -fs=TEXT --equal-width --format=TEXT --separator=TEXT", Text),
    ("true", "", OnlyText),
    // Without a value it shows a limit, with a value it sets the limit.
    ("ulimit", "", Only(&[&["-a"], &["-n"], &["-c"], &["-s"], &["-u"], &["-v"], &["-Sa"], &["-Ha"], &["-Hn"], &["-Sn"]])),
    ("uname", "-aimnoprsv --all --machine --nodename --operating-system --kernel-name --kernel-release --kernel-version --processor --hardware-platform", None),
    ("uptime", "-ps --pretty --since", None),
    ("whoami", "", None),
];
