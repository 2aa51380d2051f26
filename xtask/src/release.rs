//! `cargo xtask release VERSION`: checks, packages and builds everything that a release consists of.
//!
//! Nothing is uploaded, tagged or pushed: these need keys, and cannot be undone. They are printed as the next commands.

use crate::files::{clear, read};
use crate::metadata::published;
use crate::process::{Program, workspace_root};
use crate::{Error, api, gates, names, outside, packages, sbom, steps};

const HELP: &str = "Checks, packages and builds a release.

Usage:
  cargo xtask release VERSION --dry-run    everything, in a copy of the tree; the tree stays as it is
  cargo xtask release VERSION              the same, and the tree has the new version and its section of CHANGELOG.md
  cargo xtask release VERSION STEP…        only these steps

Variables:
  SIGN_KEY    an SSH key that signs the checksums; without one, nothing is signed
  MCP_NAME    the name in the MCP registry, as io.github.ada/toolwright; without one, there is no server.json
  IMAGE       the container image of server.json, with its tag
  OUT         the folder that everything is written to [default: target/release-VERSION]

Steps:
@steps@
Nothing is uploaded, tagged or pushed; the commands for that are printed at the end. Before it, `cargo xtask all` has to pass: it is
not part of it.";

/// The copy is built beside the tree, because Cargo would take the crates of one for those of the other. A later dry run finds the
/// dependencies compiled; tools are those of the tree.
const COPY: &str = "
    rm -rf target/release-source && git clone --quiet . target/release-source
    mkdir -p target/release-build target/tools && ln -sfn ../tools target/release-build/tools
    ln -s ../release-build target/release-source/target";

const FILES: &str = "cd $OUT && find . -type f -printf '%10s  %P\\n' | sort -k 2";

const NEXT: &str = "next, after a look at `git diff`:
  git commit --all --message 'release: VERSION'
  git tag --sign vVERSION --message vVERSION && git push --follow-tags
  cargo publish --workspace
  upload the files to the release of the tag
  mcp-publisher publish    if there is a server.json";

type Step = (&'static str, &'static str, fn(&Release) -> Result<String, String>);

/// Scripts have the variables `VERSION`, `OUT`, `TARGET` and `NAME`, the name of the archive.
#[rustfmt::skip]
const STEPS: [Step; 12] = [
    ("versions", "the version of every crate, and the section of CHANGELOG.md", |it| it.script("
        old=$(sed -n 's/^version = \"\\(.*\\)\"/\\1/p' Cargo.toml | head -n 1)
        sed -i \"s/^version = \\\"$old\\\"/version = \\\"$VERSION\\\"/; /path = \\\"crates/s/version = \\\"$old\\\"/version = \\\"$VERSION\\\"/\" Cargo.toml
        sed -i \"s/^## Unreleased$/## $VERSION/\" CHANGELOG.md
        for folder in . bridges fuzz bench/peers; do cargo update --workspace --offline --quiet --manifest-path $folder/Cargo.toml; done
        echo from $old to $VERSION")),
    ("licences", "licences, bans, sources, advisories", |_| gates::deny()),
    ("api", "the public items are those in api/", |_| api::check()),
    ("semver", "the version promises no more than is kept since the last release", |_| gates::semver(None)),
    ("packages", "the files for crates.io, each with all that it needs", |it| {
        packages::package(&published()?, &[])?;
        it.script("cp -r target/packages/package $OUT/crates; rm -rf $OUT/crates/*/; ls $OUT/crates | wc -l")
    }),
    ("outside", "projects that have nothing but these packages, built and tested", |_| outside::check_packaged(&[])),
    ("archive", "the program with completions and manual pages, where binstall finds it", |it| it.script("
        grep -Fq '/toolwright-{ version }-{ target }.tar.gz\"' Cargo.toml
        grep -Fq 'bin-dir = \"toolwright-{ version }-{ target }/{ bin }{ binary-ext }\"' Cargo.toml
        cargo build --locked --release --package toolwright-assistant --bin toolwright
        target/release/toolwright --version | grep -Fq \" $VERSION\"
        rm -rf target/archive && mkdir -p target/archive/$NAME
        cp target/release/toolwright CHANGELOG.md LICENSE README.md target/archive/$NAME
        cargo run --locked --quiet --package command-docs -- target/archive/$NAME
        # The same files give the same bytes: no names or times of this machine.
        tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=$(git log -1 --format=@%ct) \\
            --use-compress-program 'gzip -n9' -C target/archive -cf $OUT/$NAME.tar.gz $NAME
        echo $NAME.tar.gz")),
    ("sbom", "what the program consists of, as CycloneDX", |it| sbom::write(&it.folder, &it.target)),
    ("container", "the file that builds the image", |it| it.script("cp deploy/Dockerfile $OUT && echo copied")),
    ("server-json", "the entry of the MCP registry, with MCP_NAME and IMAGE", |it| it.script("
        if [ -z \"${MCP_NAME:-}\" ]; then echo 'skipped: there is no MCP_NAME'; exit; fi
        target/release/toolwright publish --name \"$MCP_NAME\" --image \"$IMAGE\" --out $OUT/server.json && echo for $MCP_NAME")),
    ("checksums", "SHA-256 of every file", |it| it.script("
        cd $OUT && find . -type f ! -name 'SHA256SUMS*' -printf '%P\\n' | LC_ALL=C sort | xargs -d '\\n' sha256sum >SHA256SUMS
        sha256sum --check --quiet SHA256SUMS && wc -l <SHA256SUMS")),
    ("signature", "of the checksums, with SIGN_KEY", |it| it.script("
        if [ -z \"${SIGN_KEY:-}\" ]; then echo 'skipped: there is no SIGN_KEY'; exit; fi
        ssh-keygen -q -Y sign -f \"$SIGN_KEY\" -n toolwright-release $OUT/SHA256SUMS && echo 'SECURITY.md says how it is verified'")),
];

/// Reads `1.2.3`, without pre-release or build parts.
fn parse_version(text: &str) -> Result<[u64; 3], String> {
    let numbers = text.split('.').map(|part| part.parse().ok());
    let version: Option<[u64; 3]> =
        numbers.collect::<Option<Vec<_>>>().and_then(|numbers| numbers.try_into().ok());
    // Not as it was written: it has a leading zero or a plus sign.
    let version =
        version.filter(|[major, minor, patch]| format!("{major}.{minor}.{patch}") == text);
    version.ok_or_else(|| format!("`{text}` is not a version: write three numbers, as 0.2.0"))
}

pub(crate) fn help() -> String {
    let steps = STEPS.iter().map(|(name, what, _)| format!("  {name:<12} {what}\n"));
    HELP.replace("@steps@", &steps.collect::<String>())
}

/// A release that is being made.
struct Release {
    version: String,
    /// Where everything is written.
    folder: String,
    /// The target of this machine, as `x86_64-unknown-linux-gnu`.
    target: String,
}

impl Release {
    /// Runs a script; returns what it prints.
    fn script(&self, script: &str) -> Result<String, String> {
        let Self { version, folder, target } = self;
        let script = Program::shell(script).env("VERSION", version).env("TARGET", target);
        let script =
            script.env("NAME", format!("toolwright-{version}-{target}")).env("OUT", folder);
        script.stdout().map(|output| output.trim().to_owned())
    }
}

/// Makes a release, or tries to in a copy; `wanted` names some steps.
pub(crate) fn run(version: &str, wanted: &[&str]) -> Result<(), Error> {
    parse_version(version).map_err(Error::Usage)?;
    let (wanted, dry): (Vec<&str>, Vec<&str>) = wanted.iter().partition(|it| **it != "--dry-run");
    let known = STEPS.map(|(name, ..)| name);
    if let Some(step) = wanted.iter().find(|step| !known.contains(step)) {
        return Err(Error::Usage(names::unknown("step", step, &known)));
    }
    check_start(version)?;
    let folder = format!("{}/target/release-{version}", workspace_root().display());
    let folder = std::env::var("OUT").unwrap_or(folder);
    if !dry.is_empty() {
        Program::shell(COPY).run()?;
        let source = workspace_root().join("target/release-source");
        let release = Program::new("cargo").args(&["xtask", "release", version]).args(&wanted);
        release.env("OUT", folder).folder(&source).run()?;
        println!("this was a dry run: the tree is as it was");
        return Ok(());
    }
    clear(folder.as_ref())?;
    let target = Program::new("rustc").args(&["--print", "host-tuple"]).stdout()?;
    let target = target.trim().to_owned();
    let release = &Release { version: version.to_owned(), folder, target };
    let is_wanted = |(name, ..): &&Step| wanted.is_empty() || wanted.contains(name);
    let rows = STEPS.iter().filter(is_wanted);
    steps::run_rows(rows.map(|(name, what, run)| (*name, *what, || run(release))), false)?;
    println!("{}\n\nin {}\n", release.script(FILES)?, release.folder);
    println!("{}", NEXT.replace("VERSION", version));
    Ok(())
}

/// Fails if a release of this version cannot begin here.
fn check_start(version: &str) -> Result<(), String> {
    let changes = Program::git(&["status", "--porcelain"]).stdout()?.lines().count();
    if changes > 0 {
        return Err(format!("the tree has {changes} uncommitted changes: commit or stash them"));
    }
    if let Some(tag) = gates::last_release()?
        && parse_version(version)? <= parse_version(tag.trim_start_matches('v'))?
    {
        return Err(format!("{version} is not newer than the last release, {tag}"));
    }
    check_changes(&read("CHANGELOG.md")?, version)
}

/// Fails if the changelog names no change of a version.
fn check_changes(changelog: &str, version: &str) -> Result<(), String> {
    let section = |name: &str| changelog.split_once(&format!("\n## {name}\n"));
    let section = section(version).or_else(|| section("Unreleased"));
    let section = section.map_or("", |(_, rest)| rest.split("\n## ").next().unwrap_or_default());
    match section.contains("\n- ") {
        true => Ok(()),
        false => Err(format!("CHANGELOG.md names no change of {version} below `## Unreleased`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_answered_with_what_to_write() {
        for (version, step, answer) in [
            ("v1.2.3", "api", "as 0.2.0"),
            ("1.02.3", "api", "as 0.2.0"),
            ("0.2.0", "pakages", "did you mean `packages`?"),
        ] {
            let error = run(version, &[step]).unwrap_err();
            assert!(
                matches!(&error, Error::Usage(message) if message.contains(answer)),
                "{error:?}"
            );
        }
    }

    #[test]
    fn versions_sort_by_number_and_need_a_section() {
        assert!(parse_version("0.10.0") > parse_version("0.9.9"));
        let changelog = "# Changelog\n\n## Unreleased\n\n- A.\n\n## 0.0.1\n\n- B.\n";
        assert_eq!(check_changes(changelog, "0.1.0"), Ok(()));
        assert!(check_changes(&changelog.replace("- A.", ""), "0.1.0").is_err());
    }
}
