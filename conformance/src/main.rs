//! The command `onrecord`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(onrecord::cli::main(std::env::args_os()))
}
