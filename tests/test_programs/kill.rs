//! The program whose `serve` command is killed.

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use toolwright::Registry;
use toolwright::testing::FnModel;

use crate::orders::{self, Effects};

pub(crate) fn run() -> Result<ExitCode, Box<dyn Error>> {
    let app = toolwright::app!()
        .registry(Registry::of(orders::tools())?)
        .state_with(Effects::open)
        .model(FnModel::new(|request| orders::reply(request, |_| String::new())))
        .server(|server| {
            server.limits(|limits| {
                limits.shutdown_grace = Duration::from_secs(1);
                limits.sweep_interval = Duration::from_secs(1);
            })
        });
    Ok(app.run())
}
