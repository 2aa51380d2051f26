//! MCP servers under the same load: Toolwright's, those of others, and the least that could answer at all.
//!
//! Every server is a process of its own; those in Rust are this program again, told to `serve`. Words after `--` choose:
//! a transport (`http`, `stdio`), a load (`add`, `page`, `list-100`, `list-10000`), a server by its name.

#![allow(
    clippy::unwrap_used,
    reason = "a benchmark stops at the first surprise"
)]

mod contender;
mod era;
mod load;
mod process;
mod race;
mod report;
mod serve;
mod wire;

use tokio::runtime::Builder;

use crate::contender::{CONTENDERS, Contender, Way};
use crate::load::LOADS;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let ["serve", name, way, load] = words[..] {
        let (way, load) = (Way::named(way), load::named(load));
        let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
        return runtime.block_on(serve::serve(name, way, load));
    }
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let contenders = chosen(&CONTENDERS, &words, |it| it.name);
    let contenders: Vec<&Contender> = contenders.into_iter().filter(|it| it.is_there()).collect();
    for way in chosen(&[Way::Http, Way::Stdio], &words, |way| way.name()) {
        for load in chosen(&LOADS, &words, |load| load.name) {
            let rows = runtime.block_on(race::run(&contenders, *way, load));
            println!("{}", report::table(*way, load, &rows));
        }
    }
}

/// Those that are named; all of them when none is.
fn chosen<'a, T>(all: &'a [T], words: &[&str], name: impl Fn(&T) -> &'static str) -> Vec<&'a T> {
    let named: Vec<&T> = all.iter().filter(|it| words.contains(&name(it))).collect();
    if named.is_empty() {
        all.iter().collect()
    } else {
        named
    }
}
