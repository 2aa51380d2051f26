//! Chat rooms inside an axum application with routes and state of its own. Once the program has a login, nobody but the customer
//! `7` enters `/ai/support/7`; until then, you are the operator. Customers cannot reach the tools of the staff, and a call with an
//! effect waits for approval: `POST /ai/support/7/decide`.

use std::net::SocketAddr;

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use toolwright::server::{Endpoint, Mount};
use toolwright::{tool, tools};

/// Sends a voucher to the customer.
#[tool(destructive)]
fn send_voucher(euros: u32) -> String {
    format!("a voucher of {euros} euros is sent")
}

#[derive(Default)]
struct StaffTools;

#[tools]
impl StaffTools {
    /// Refunds an order.
    #[tool(destructive)]
    fn refund(&self, order: u32) -> String {
        format!("order {order} is refunded")
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let room = Endpoint::new("/support/{customer}")
        .for_subject("customer")
        .memory(true)
        .exclude_bundle::<StaffTools>();
    let app = toolwright::app!().endpoint(room).mount(Mount::mcp()).start().await?;
    let router = Router::new()
        .route("/", get(async |State(name): State<&str>| format!("Welcome to {name}.")))
        .with_state("the shop")
        .nest_service("/ai", app.router());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    axum::serve(listener, router.into_make_service_with_connect_info::<SocketAddr>()).await?;
    Ok(())
}
