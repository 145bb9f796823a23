//! Lists the files under `fixtures/`, so that the library can embed them: then
//! `onrecord run` works from anywhere.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = Path::new(&variable("CARGO_MANIFEST_DIR")?).join("../fixtures");
    // Cargo looks at every file under it, so a new fixture is embedded too.
    println!("cargo::rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    files.sort();
    let mut list = String::from("&[\n");
    for file in files {
        let name = file.strip_prefix(&root).map_err(io::Error::other)?;
        let name = name.to_string_lossy().replace('\\', "/");
        let file = file.canonicalize()?;
        writeln!(list, "    ({name:?}, include_str!({:?})),", file.display().to_string())
            .map_err(io::Error::other)?;
    }
    list.push_str("]\n");
    fs::write(Path::new(&variable("OUT_DIR")?).join("fixtures.rs"), list)
}

fn variable(name: &str) -> io::Result<String> {
    env::var(name).map_err(io::Error::other)
}

/// Fixtures are the JSON files in the folders under the root. What lies in the
/// root itself (the schema) is none, and neither is what lies in `logs`.
fn collect(root: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !root.is_dir() {
        return Ok(());
    }
    let mut folders: Vec<PathBuf> = folders_of(root)?;
    folders.retain(|folder| folder.file_name().is_some_and(|name| name != "logs"));
    while let Some(folder) = folders.pop() {
        folders.extend(folders_of(&folder)?);
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_file() && path.extension().is_some_and(|ext| ext == "json") {
                files.push(path);
            }
        }
    }
    Ok(())
}

fn folders_of(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            folders.push(path);
        }
    }
    Ok(folders)
}
