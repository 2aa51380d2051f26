//! Several nodes behind one address: each request goes to the next node.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::extract::Request;
use tokio::net::TcpListener;
use toolwright_bus::InProcessBus;
use toolwright_core::MemorySharedState;
use toolwright_mcp::McpServerBuilder;
use tower::ServiceExt as _;

/// Serves with nodes that share their tools, a bus and the shared state, and nothing else.
pub(crate) async fn serve(
    addr: SocketAddr,
    count: usize,
    server: impl Fn() -> Result<McpServerBuilder, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let (bus, state) = (InProcessBus::new(), Arc::new(MemorySharedState::new()));
    let mut nodes = Vec::new();
    for _ in 0..count {
        let node = server()?.cluster(bus.node(), Arc::clone(&state)).build()?;
        nodes.push(Router::new().nest("/mcp", node.router()));
    }
    let requests = Arc::new(AtomicUsize::new(0));
    let balancer = Router::new().fallback(move |request: Request| {
        let next = requests.fetch_add(1, Ordering::Relaxed);
        let node = nodes.iter().cycle().nth(next % count.max(1)).cloned();
        async move { node.unwrap_or_default().oneshot(request).await }
    });
    let listener = TcpListener::bind(addr).await?;
    println!("listening at http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, balancer.into_make_service_with_connect_info::<SocketAddr>()).await?;
    Ok(())
}
