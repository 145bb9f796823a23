//! Writes the seeds of every fuzz target: `fuzz/corpus/<target>/seed-<number>`.

use std::path::Path;
use std::process::ExitCode;

use onrecord_fuzz::EQUATIONS;
use onrecord_fuzz::seeds::seeds;

fn main() -> ExitCode {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for equation in EQUATIONS {
        let folder = corpus.join(equation.name);
        let written = std::fs::create_dir_all(&folder).and_then(|()| {
            for (number, seed) in seeds(equation.takes).iter().enumerate() {
                std::fs::write(folder.join(format!("seed-{number:04}")), seed)?;
            }
            Ok(())
        });
        if let Err(error) = written {
            eprintln!("cannot write seeds into {}: {error}", folder.display());
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
