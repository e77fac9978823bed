//! The headless binary: `octo-cli exec`, `octo-cli serve`.

fn main() -> std::process::ExitCode {
    octo_cli::run(std::env::args_os())
}
