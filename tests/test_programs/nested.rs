//! A program with routes of its own, which serves the console below `/ai` with `nest` and below `/service/ai` with
//! `nest_service`.
//!
//! It takes the arguments of `toolwright serve`, and reads only the last one: the token. It prints its address, and serves until
//! it is killed.

use std::error::Error;
use std::process::ExitCode;

use axum::Router;
use axum::routing::get;
use tokio::net::TcpListener;
use toolwright::demo::DemoModel;
use toolwright::server::{Mount, ServerBuilder};
use toolwright::{Invoker, Registry, Secret};

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn run() -> Result<ExitCode, Box<dyn Error>> {
    let token = std::env::args().next_back().unwrap_or_default();
    let registry = Registry::of((
        assistant_tools::get_city_time::tool(),
        assistant_tools::Refunds::default(),
    ))?;
    let invoker = Invoker::new(&registry)?;
    let server = ServerBuilder::new(invoker, DemoModel::new())
        .token(Secret::new(token))
        .mount(Mount::console())
        .build()?;
    let app = Router::new()
        .route("/", get(async || "the program's own page"))
        .nest("/ai", server.router())
        .nest_service("/service/ai", server.router());
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{} ", listener.local_addr()?);
    axum::serve(listener, app).await?;
    Ok(ExitCode::SUCCESS)
}
