//! A child process, its memory and its CPU time.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The unit of CPU times in `/proc`: `USER_HZ`, which is 100 on all platforms of Linux.
const CLOCK_TICK: Duration = Duration::from_millis(10);

/// A server process, which is killed on drop.
pub(crate) struct Process {
    child: Child,
    /// The first line that it printed.
    pub(crate) line: String,
}

/// The file that has the log of the process that was started last.
pub(crate) fn log_path() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("endpoint-server.log")
}

impl Process {
    /// Starts a process, writes `input` to its stdin, and waits for its first line.
    pub(crate) fn start(mut command: Command, input: &[u8]) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(log_path()).unwrap())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let line = line.trim().to_owned();
        Self { child, line }
    }

    /// Resident memory.
    pub(crate) fn resident_bytes(&self) -> u64 {
        let status = self.read_proc_file("status");
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        let kib = line.and_then(|line| line.split_whitespace().nth(1));
        kib.unwrap().parse::<u64>().unwrap() * 1024
    }

    /// User and system time of all its threads.
    pub(crate) fn cpu_time(&self) -> Duration {
        let stat = self.read_proc_file("stat");
        // The name, in brackets, may contain spaces.
        let (_, rest) = stat.rsplit_once(')').unwrap();
        let ticks = rest.split_whitespace().skip(11).take(2);
        let ticks: u32 = ticks.map(|part| part.parse::<u32>().unwrap()).sum();
        CLOCK_TICK * ticks
    }

    fn read_proc_file(&self, file: &str) -> String {
        fs::read_to_string(format!("/proc/{}/{file}", self.child.id())).unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
