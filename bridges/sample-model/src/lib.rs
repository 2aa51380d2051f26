//! A model for samples that needs no key: Toolwright's demo model, behind an address as OpenAI's.
//!
//! With `OPENAI_BASE_URL` and `OPENAI_API_KEY` a sample could ask a real one just as well.

use std::error::Error;
use std::net::Ipv4Addr;

use tokio::net::TcpListener;
use toolwright::demo::DemoModel;
use toolwright::server::Server;
use toolwright::{Invoker, Registry};

/// Starts the model, and returns the address that a client of OpenAI's is given: `http://127.0.0.1:PORT/v1`.
///
/// It has no tools of its own, so it calls those that a request brings. It runs until the program ends.
///
/// # Errors
///
/// When there is no port to listen on.
pub async fn start() -> Result<String, Box<dyn Error>> {
    let site = Server::new(Invoker::new(Registry::new())?, DemoModel::new()).build()?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move { site.serve(listener, std::future::pending()).await });
    Ok(format!("http://{address}/v1"))
}
