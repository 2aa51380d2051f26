//! The program that is killed, from the outside.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use super::STAGES;
use super::chance::Rng;

/// After so long without a word, something is wrong that a test has to tell.
const OUTPUT_TIMEOUT: Duration = Duration::from_secs(120);

/// What becomes of a process.
pub(crate) enum KillPlan {
    /// It is left alone.
    RunToEnd,
    /// It stays at the Nth point of a stage, and is killed there.
    KillAtStage(String, usize),
    /// It is killed once it has told so many lines, wherever it has come to by then.
    KillAfterLines(usize),
}

/// What became of it.
pub(crate) struct ProcessOutcome {
    /// What it told, to the last word.
    pub(crate) lines: Vec<String>,
    /// In which stage it died; nothing if it came to its end.
    pub(crate) killed_at_stage: Option<String>,
}

pub(crate) struct Process {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
}

impl Process {
    pub(crate) fn start(
        url: &str,
        conversation: &str,
        log: &Path,
        orders: usize,
        fate: &KillPlan,
    ) -> Self {
        let hold = match fate {
            KillPlan::KillAtStage(stage, number) => format!("{stage}:{number}"),
            _ => "-".to_owned(),
        };
        let mut command = Command::new(program());
        command.args([url, conversation]).arg(log);
        command.args([&orders.to_string(), &hold]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (tell, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if tell.send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            stdin,
            lines,
        }
    }

    /// Lets it live as long as it may, and decides for it what it asks.
    pub(crate) fn run(mut self, fate: &KillPlan, chance: &mut Rng) -> ProcessOutcome {
        let mut told: Vec<String> = Vec::new();
        loop {
            let line = match self.lines.recv_timeout(OUTPUT_TIMEOUT) {
                Ok(line) => line,
                Err(why) => {
                    let _ = self.child.kill();
                    let status = self.child.wait().unwrap();
                    panic!("{why}, {status}: {told:#?}");
                }
            };
            told.push(line);
            let last = told.last().unwrap();
            if last == "done" {
                let status = self.child.wait().unwrap();
                assert!(status.success(), "{status}: {told:#?}");
                return ProcessOutcome {
                    lines: told,
                    killed_at_stage: None,
                };
            }
            let dies = match fate {
                KillPlan::RunToEnd => false,
                KillPlan::KillAtStage(..) => last == "held",
                KillPlan::KillAfterLines(most) => told.len() >= *most,
            };
            if dies {
                return self.kill(told);
            }
            if last == "decide" {
                let answer = ["yes\n", "yes\n", "no\n"][chance.next_below(3)];
                self.stdin.write_all(answer.as_bytes()).unwrap();
            }
        }
    }

    fn kill(mut self, mut told: Vec<String>) -> ProcessOutcome {
        // SIGKILL: it has no chance to do anything any more.
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        // What it had told by then is in the pipe.
        told.extend(self.lines.iter());
        let stage = |line: &String| STAGES.iter().find(|it| line.starts_with(**it));
        let stage = told.iter().rev().find_map(stage);
        // It may have come to its end before the signal came.
        let died = match told.last().is_some_and(|last| last == "done") {
            true => None,
            // Nothing told: it has just begun.
            false => Some(stage.unwrap_or(&STAGES[0]).to_string()),
        };
        ProcessOutcome {
            lines: told,
            killed_at_stage: died,
        }
    }
}

/// Built with the tests, beside the examples.
fn program() -> PathBuf {
    let toolwright = Path::new(env!("CARGO_BIN_EXE_toolwright"));
    let program = toolwright.with_file_name("examples/crash_child");
    assert!(
        program.exists(),
        "it is not built: cargo build --example crash_child"
    );
    program
}
