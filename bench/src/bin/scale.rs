//! The arithmetic of `docs/scale.md`: measured costs in, the machines that a load needs out.
//!
//! `cargo run -p toolwright-bench --bin scale`; `NAME=VALUE` changes a cost or an assumption, `--help` lists them.

use std::fmt::Write as _;
use std::process::ExitCode;

/// A figure of the computation.
struct Figure {
    name: &'static str,
    value: f64,
    meaning: &'static str,
}

const fn figure(name: &'static str, value: f64, meaning: &'static str) -> Figure {
    Figure { name, value, meaning }
}

/// What `--bench cluster` and `--bench bus` measure, and what is assumed about users and machines.
const FIGURES: [Figure; 15] = [
    figure(
        "node_us_per_turn",
        1_640.0,
        "CPU time of the nodes per turn with one call, without its deltas, in µs",
    ),
    figure("node_us_per_event", 6.3, "CPU time of the nodes per event and subscriber, in µs"),
    figure("db_us_per_turn", 2_503.0, "CPU time of PostgreSQL per turn, in µs"),
    figure("db_commits_per_turn", 7.0, "transactions that write per turn"),
    figure("db_kib_per_turn", 3.3, "size of a turn in the journal, in KiB"),
    figure(
        "nats_us_per_message",
        3.4,
        "CPU time of NATS per message and node that receives it, in µs",
    ),
    figure("event_bytes", 153.0, "size of an event on the bus, in bytes"),
    figure("turns_per_hour", 20.0, "turns of a user per hour"),
    figure("events_per_turn", 200.0, "events of a turn, most of them deltas"),
    figure("subscribers", 1.2, "clients that read a conversation"),
    figure("node_cores", 4.0, "cores of a node"),
    figure("db_cores", 16.0, "cores of a database"),
    figure("db_commits", 10_000.0, "commits per second that the disk of a database takes"),
    figure("nats_cores", 4.0, "cores of a NATS server"),
    figure("utilisation", 0.6, "share of a machine that is used at most"),
];

/// The users at the same time, and the name of the load.
const LOADS: [(&str, f64); 5] =
    [("1 ×", 1e3), ("10 ×", 1e4), ("100 ×", 1e5), ("1,000 ×", 1e6), ("10,000 ×", 1e7)];

/// The values of the figures, by name.
struct Model(Vec<f64>);

/// What a load needs.
struct Needs {
    turns: f64,
    events: f64,
    nodes: f64,
    databases: f64,
    commits: f64,
    journal_gib_per_day: f64,
    nats_servers: f64,
    nats_megabytes: f64,
    bottleneck: &'static str,
}

impl Model {
    fn new() -> Self {
        Self(FIGURES.iter().map(|figure| figure.value).collect())
    }

    /// Changes a figure; an error if the text is not `NAME=VALUE` of one of them.
    fn set(&mut self, text: &str) -> Result<(), String> {
        let (name, value) =
            text.split_once('=').ok_or_else(|| format!("`{text}`: write NAME=VALUE"))?;
        let at = FIGURES.iter().position(|figure| figure.name == name);
        let at = at.ok_or_else(|| format!("there is no figure `{name}`; --help lists them"))?;
        let value: f64 = value.parse().map_err(|_| format!("`{value}` of {name} is no number"))?;
        if !(value.is_finite() && value > 0.0) {
            return Err(format!("{name} has to be above zero"));
        }
        if let Some(known) = self.0.get_mut(at) {
            *known = value;
        }
        Ok(())
    }

    fn get(&self, name: &str) -> f64 {
        let at = FIGURES.iter().position(|figure| figure.name == name);
        at.and_then(|at| self.0.get(at)).copied().unwrap_or(f64::NAN)
    }

    fn needs(&self, users: f64) -> Needs {
        let turns = users * self.get("turns_per_hour") / 3600.0;
        let events = turns * self.get("events_per_turn");
        let usable = self.get("utilisation");
        let node_load = (turns * self.get("node_us_per_turn")
            + events * self.get("subscribers") * self.get("node_us_per_event"))
            / 1e6;
        // Two more: one may fail while another is upgraded.
        let nodes = (node_load / (self.get("node_cores") * usable)).ceil() + 2.0;
        let commits = turns * self.get("db_commits_per_turn");
        let db_cpu = turns * self.get("db_us_per_turn") / 1e6 / (self.get("db_cores") * usable);
        let db_disk = commits / (self.get("db_commits") * usable);
        // A subscriber is at another node than the turn in all but one of as many cases as there are nodes.
        let receivers = self.get("subscribers") * (nodes - 1.0) / nodes;
        let nats_cpu = events * receivers * self.get("nats_us_per_message") / 1e6;
        let nats = nats_cpu / (self.get("nats_cores") * usable);
        let nats_megabytes = events * (1.0 + receivers) * self.get("event_bytes") / 1e6;
        let bottleneck = [
            (db_disk, "commits of the database"),
            (db_cpu, "CPU of the database"),
            (nats, "CPU of NATS"),
        ];
        let fullest = bottleneck.into_iter().max_by(|one, other| one.0.total_cmp(&other.0));
        let bottleneck =
            fullest.filter(|(share, _)| *share > 1.0).map_or("none: add nodes", |it| it.1);
        Needs {
            turns,
            events,
            nodes,
            databases: db_cpu.max(db_disk).ceil(),
            commits,
            journal_gib_per_day: turns * 86_400.0 * self.get("db_kib_per_turn") / (1 << 20) as f64,
            nats_servers: nats.ceil(),
            nats_megabytes,
            bottleneck,
        }
    }

    /// The table that `docs/scale.md` shows.
    fn table(&self) -> String {
        let mut table = format!(
            "{:<9} {:>10} {:>8} {:>11} {:>7} {:>10} {:>10} {:>9} {:>5} {:>7}  {}\n",
            "load",
            "users",
            "turns/s",
            "events/s",
            "nodes",
            "databases",
            "commits/s",
            "GiB/day",
            "NATS",
            "MB/s",
            "first to be full"
        );
        for (name, users) in LOADS {
            let it = self.needs(users);
            let _ = writeln!(
                table,
                "{name:<9} {users:>10.0} {:>8.0} {:>11.0} {:>7.0} {:>10.0} {:>10.0} {:>9.1} {:>5.0} {:>7.0}  {}",
                it.turns,
                it.events,
                it.nodes,
                it.databases,
                it.commits,
                it.journal_gib_per_day,
                it.nats_servers,
                it.nats_megabytes,
                it.bottleneck
            );
        }
        table
    }
}

fn main() -> ExitCode {
    let mut model = Model::new();
    for argument in std::env::args().skip(1) {
        if argument == "--help" {
            for Figure { name, value, meaning } in FIGURES {
                println!("{name}={value:<8} {meaning}");
            }
            return ExitCode::SUCCESS;
        }
        if let Err(why) = model.set(&argument) {
            eprintln!("{why}");
            return ExitCode::from(2);
        }
    }
    print!("{}", model.table());
    ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> String {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/scale.md");
        std::fs::read_to_string(page).unwrap_or_default()
    }

    #[test]
    fn the_page_shows_this_table() {
        let shown =
            format!("$ cargo run -q -p toolwright-bench --bin scale\n{}", Model::new().table());
        assert!(page().contains(&shown), "docs/scale.md does not show\n{shown}");
    }

    #[test]
    fn the_page_names_every_figure_with_its_value() {
        let page = page();
        for Figure { name, value, .. } in FIGURES {
            let row = format!("| `{name}` | {value} |");
            assert!(page.contains(&row), "docs/scale.md does not have {row}");
        }
    }

    #[test]
    fn twice_the_cost_needs_twice_the_machines() {
        let mut model = Model::new();
        let databases = model.needs(1e7).databases;
        assert_eq!(model.set("db_us_per_turn=5000000"), Ok(()));
        let more = model.needs(1e7);
        assert!(more.databases > 100.0 * databases, "{}", more.databases);
        assert_eq!(more.bottleneck, "CPU of the database");
    }

    #[test]
    fn a_mistake_is_named() {
        let mut model = Model::new();
        for (text, expected) in [
            ("nodes", "write NAME=VALUE"),
            ("nodes=3", "there is no figure `nodes`"),
            ("event_bytes=many", "is no number"),
            ("event_bytes=0", "above zero"),
        ] {
            let error = model.set(text).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
