//! The CPU time of processes.

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

/// The unit of CPU times in `/proc`: `USER_HZ`, which is 100 on all platforms of Linux.
const CLOCK_TICK: Duration = Duration::from_millis(10);

/// The fields of `/proc/PID/stat` that are used here.
struct ProcessTimes {
    parent: u32,
    /// User and system time, of the process and of children that it has waited for.
    ticks: u32,
}

/// The CPU time of a process and of all its descendants.
pub fn of_tree(root: u32) -> Duration {
    let ids = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let times: HashMap<u32, ProcessTimes> =
        ids.filter_map(|id| Some((id, process_times(id)?))).collect();
    let is_descendant = |mut id: u32| loop {
        if id == root {
            return true;
        }
        match times.get(&id) {
            Some(times) => id = times.parent,
            None => return false,
        }
    };
    let tree = times.iter().filter(|(id, _)| is_descendant(**id));
    CLOCK_TICK * tree.map(|(_, times)| times.ticks).sum()
}

/// The CPU time of this process, without its children.
pub fn of_this_process() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    CLOCK_TICK * fields(&stat).unwrap()[10..12].iter().sum()
}

fn process_times(id: u32) -> Option<ProcessTimes> {
    let fields = fields(&fs::read_to_string(format!("/proc/{id}/stat")).ok()?)?;
    Some(ProcessTimes { parent: fields[0], ticks: fields[10..14].iter().sum() })
}

/// The fields after the state, which follows the name.
fn fields(stat: &str) -> Option<Vec<u32>> {
    // The name, in brackets, may contain spaces.
    let (_, rest) = stat.rsplit_once(')')?;
    let fields = rest.split_whitespace().skip(1).take(16);
    Some(fields.map(|field| field.parse().unwrap_or_default()).collect())
}
