//! Builds and tests, outside of the workspace, what users write: projects that name a version of the packages and nothing else.
//!
//! The packages are unpacked into a folder of their own, and take the place of those of crates.io if they have the wanted version. So
//! a file, a feature or a dependency that a package lacks is found here, and not by the first user.

use crate::metadata::published;
use crate::packages::package;
use crate::process::Program;

/// Packages everything, then builds and tests the projects with these names, or all.
pub(crate) fn check(only: &[&str]) -> Result<String, String> {
    package(&published()?, &[])?;
    check_packaged(only)
}

/// Builds and tests the projects with crates that are packaged already.
pub(crate) fn check_packaged(only: &[&str]) -> Result<String, String> {
    let version = published()?.into_iter().next().map(|it| it.version).unwrap_or_default();
    Program::new("sh").args(&["xtask/scripts/outside.sh"]).args(only).env("VERSION", version).run()
}
