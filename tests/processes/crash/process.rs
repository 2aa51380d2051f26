//! Starts the program, and kills it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use test_support::programs::test_program;
use toolwright::testing::SeededRng;

use super::STAGES;

/// Without output for this time, the test fails.
const OUTPUT_TIMEOUT: Duration = Duration::from_secs(120);

/// When to kill a process.
pub(crate) enum KillPlan {
    /// Not at all.
    RunToEnd,
    /// At the Nth point of a stage, where it blocks.
    KillAtStage(String, usize),
    /// After this number of output lines.
    KillAfterLines(usize),
}

/// The output of a process, and where it was killed.
pub(crate) struct ProcessOutcome {
    /// All output lines.
    pub(crate) lines: Vec<String>,
    /// The stage in which it was killed; `None` if it finished.
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
        let mut command = test_program("crash");
        command.args([url, conversation]).arg(log);
        command.args([&orders.to_string(), &hold]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, stdin, lines }
    }

    /// Runs it until it ends or is killed, and answers its approval requests.
    pub(crate) fn run(mut self, fate: &KillPlan, rng: &mut SeededRng) -> ProcessOutcome {
        let mut output_lines: Vec<String> = Vec::new();
        loop {
            let line = match self.lines.recv_timeout(OUTPUT_TIMEOUT) {
                Ok(line) => line,
                Err(why) => {
                    let _ = self.child.kill();
                    let status = self.child.wait().unwrap();
                    panic!("{why}, {status}: {output_lines:#?}");
                }
            };
            output_lines.push(line);
            let last = output_lines.last().unwrap();
            if last == "done" {
                let status = self.child.wait().unwrap();
                assert!(status.success(), "{status}: {output_lines:#?}");
                return ProcessOutcome { lines: output_lines, killed_at_stage: None };
            }
            let dies = match fate {
                KillPlan::RunToEnd => false,
                KillPlan::KillAtStage(..) => last == "held",
                KillPlan::KillAfterLines(most) => output_lines.len() >= *most,
            };
            if dies {
                return self.kill(output_lines);
            }
            if last == "decide" {
                let answer = ["yes\n", "yes\n", "no\n"][rng.below(3)];
                self.stdin.write_all(answer.as_bytes()).unwrap();
            }
        }
    }

    fn kill(mut self, mut output_lines: Vec<String>) -> ProcessOutcome {
        // SIGKILL, which cannot be handled.
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        // The rest of the output is in the pipe.
        output_lines.extend(self.lines.iter());
        let stage = |line: &String| STAGES.iter().find(|it| line.starts_with(**it));
        let stage = output_lines.iter().rev().find_map(stage);
        // It may have finished before the signal.
        let died = match output_lines.last().is_some_and(|last| last == "done") {
            true => None,
            // No output: it has just started.
            false => Some(stage.unwrap_or(&STAGES[0]).to_string()),
        };
        ProcessOutcome { lines: output_lines, killed_at_stage: died }
    }
}
