//! The headless binary: `octo-cli exec`, `octo-cli serve`.

fn main() -> std::process::ExitCode {
    octo_cli::run_as_other_program(std::env::args_os()).unwrap_or_else(|| octo_cli::run(std::env::args_os()))
}
