//! Packages the published crates, and checks that the packages have all files.

use crate::files::{clear, tracked};
use crate::metadata::{Package, published};
use crate::process::{Program, workspace_root};

/// Where the packages and all that is made of them are written.
pub(crate) const FOLDER: &str = "target/packages";

/// The file that a registry gets.
pub(crate) fn file(package: &Package) -> String {
    format!("{FOLDER}/package/{}-{}.crate", package.name, package.version)
}

/// Packages all crates. Resolving a lock file for each takes most of the time.
pub(crate) fn check() -> Result<String, String> {
    let crates = published()?;
    package(&crates, &["--exclude-lockfile"])?;
    Ok(format!("{} packages", crates.len()))
}

/// Packages the crates, as `cargo publish` will; fails if a package lacks a file of its crate.
pub(crate) fn package(crates: &[Package], options: &[&str]) -> Result<(), String> {
    clear(&workspace_root().join(FOLDER).join("package"))?;
    // Offline: what is packaged depends on nothing that was published since Cargo.lock was written. Dirty: a change is checked
    // before it is committed, and `release` wants a clean tree.
    let args = ["--no-verify", "--offline", "--quiet", "--allow-dirty", "--target-dir", FOLDER];
    let names = crates.iter().flat_map(|package| ["--package", &package.name]);
    let names: Vec<&str> = names.collect();
    Program::cargo("package", &args).args(options).args(&names).run()?;
    let mut missing = Vec::new();
    for package in crates {
        let packaged = Program::new("tar").args(&["-tzf"]).args(&[file(package)]).stdout()?;
        let tracked = tracked(&[&package.folder])?;
        missing.extend(missing_files(package, &packaged, &tracked).map(str::to_owned));
    }
    match missing.as_slice() {
        [] => Ok(()),
        files => Err(format!("not in a package: {}", files.join(", "))),
    }
}

/// The files of a crate that its package does not have; it needs neither tests nor examples.
fn missing_files<'f>(
    package: &Package,
    packaged: &str,
    tracked: &'f [String],
) -> impl Iterator<Item = &'f str> {
    let (folder, root) =
        (format!("{}/", package.folder), format!("{}-{}", package.name, package.version));
    tracked.iter().map(String::as_str).filter(move |path| {
        let file = path.strip_prefix(&folder).unwrap_or(path);
        let is_unneeded = file.starts_with("tests/") || file.starts_with("examples/");
        !is_unneeded && !packaged.lines().any(|line| line == format!("{root}/{file}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_a_package_lacks_are_found_but_for_tests() {
        let [name, version, folder] = ["a", "1.0.0", "crates/a"].map(str::to_owned);
        let package = Package { name, version, folder, ..Package::default() };
        let tracked =
            ["src/lib.rs", "src/a.txt", "tests/main.rs"].map(|file| format!("crates/a/{file}"));
        let missing = missing_files(&package, "a-1.0.0/Cargo.toml\na-1.0.0/src/lib.rs\n", &tracked);
        assert_eq!(missing.collect::<Vec<_>>(), ["crates/a/src/a.txt"]);
    }
}
