//! What the steps need on the machine, and how to get it.

use crate::run::Run;

/// One program, or several that come together, that some step needs.
struct Need {
    program: &'static str,
    /// Succeeds when the program is there.
    probe: &'static [&'static str],
    /// Brings it when it is not.
    install: &'static [&'static str],
}

const NEEDS: &[Need] = &[
    Need {
        program: "rustfmt",
        probe: &["cargo", "fmt", "--version"],
        install: &["rustup", "component", "add", "rustfmt"],
    },
    Need {
        program: "clippy",
        probe: &["cargo", "clippy", "--version"],
        install: &["rustup", "component", "add", "clippy"],
    },
    Need {
        program: "npm",
        probe: &["npm", "--version"],
        install: &["sh", "-c", "apt-get update && apt-get install -y npm"],
    },
    Need {
        program: "python3",
        probe: &[
            "python3",
            "-c",
            "import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))",
        ],
        install: &[
            "sh",
            "-c",
            "apt-get update && apt-get install -y python3-venv",
        ],
    },
    Need {
        program: "PostgreSQL",
        probe: &["sh", "-c", "ls /usr/lib/postgresql/*/bin/initdb"],
        install: &[
            "sh",
            "-c",
            "apt-get update && apt-get install -y --no-install-recommends postgresql",
        ],
    },
    Need {
        program: "Chromium",
        probe: &["chromium", "--version"],
        install: &[
            "sh",
            "-c",
            "apt-get update && apt-get install -y --no-install-recommends chromium",
        ],
    },
    Need {
        program: "MCP servers, SDKs, browser drivers and the schema test suite",
        probe: &["python3", "tests/real/install.py", "--check"],
        install: &["python3", "tests/real/install.py"],
    },
];

/// Installs whatever is missing.
pub(crate) fn prepare() -> Result<(), String> {
    NEEDS.iter().try_for_each(Need::meet)
}

impl Need {
    fn meet(&self) -> Result<(), String> {
        if self.is_met() {
            println!("{}: found", self.program);
            return Ok(());
        }
        println!("{}: missing, installing", self.program);
        Run::words(self.install)
            .stream()
            .map_err(|why| format!("{} is missing: {why}", self.program))?;
        if self.is_met() {
            Ok(())
        } else {
            Err(format!(
                "{} is installed, yet `{}` still fails",
                self.program,
                Run::words(self.probe)
            ))
        }
    }

    fn is_met(&self) -> bool {
        Run::words(self.probe).succeeds()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THERE: &[&str] = &["true"];
    const ABSENT: &[&str] = &["no-such-program"];

    #[test]
    fn what_is_there_is_not_installed() {
        let need = Need {
            program: "sun",
            probe: THERE,
            install: ABSENT,
        };
        assert_eq!(need.meet(), Ok(()));
    }

    #[test]
    fn an_install_that_fails_names_the_program() {
        let need = Need {
            program: "moon",
            probe: ABSENT,
            install: ABSENT,
        };
        let error = need.meet().expect_err("it cannot be installed");
        assert!(error.starts_with("moon is missing: "), "{error}");
    }

    #[test]
    fn an_install_that_changes_nothing_is_noticed() {
        let need = Need {
            program: "moon",
            probe: ABSENT,
            install: THERE,
        };
        let error = need.meet().expect_err("the probe still fails");
        assert!(error.contains("still fails"), "{error}");
    }
}
