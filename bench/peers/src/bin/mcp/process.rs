//! A command in, a running process out, and what it takes of the machine.

use std::{fs, process::Stdio, time::Duration};

use tokio::process::{Child, Command};

/// The ticks in which Linux counts the time of a process, which are a hundredth of a second everywhere.
const CLOCK_TICK: Duration = Duration::from_millis(10);

/// A server; it ends when it is dropped.
pub struct Process {
    pub child: Child,
    pid: u32,
}

impl Process {
    pub fn start(command: std::process::Command) -> Self {
        let child = Command::from(command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let pid = child.id().unwrap();
        Self { child, pid }
    }

    /// Returns how much memory it has, in bytes.
    pub fn resident_bytes(&self) -> u64 {
        let status = self.read_proc_file("status");
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        let kib = line.and_then(|line| line.split_whitespace().nth(1));
        kib.unwrap().parse::<u64>().unwrap() * 1024
    }

    /// Returns how long it has kept cores busy, over all its threads.
    pub fn cpu_time(&self) -> Duration {
        let stat = self.read_proc_file("stat");
        // The name may hold spaces; what follows its bracket does not.
        let (_, rest) = stat.rsplit_once(')').unwrap();
        let ticks = rest.split_whitespace().skip(11).take(2);
        let ticks: u32 = ticks.map(|part| part.parse::<u32>().unwrap()).sum();
        CLOCK_TICK * ticks
    }

    fn read_proc_file(&self, file: &str) -> String {
        fs::read_to_string(format!("/proc/{}/{file}", self.pid)).unwrap()
    }
}
