//! The routes of a server inside another program: without credentials, only clients on this machine are accepted.

use std::net::SocketAddr;

use axum::Router;
use hyper::Request;
use serde_json::json;
use tokio::net::TcpListener;
use toolwright::Secret;
use toolwright::testing::FnModel;
use toolwright_server::{Mount, ServerBuilder};
use tower::ServiceExt as _;

use crate::owners::token;
use crate::support::no_tools;

fn server() -> ServerBuilder {
    ServerBuilder::new(no_tools(), FnModel::echo()).mount(Mount::api())
}

/// Sends a request through a router as a client at `peer`, with `Host: localhost`.
async fn status(router: Router, peer: Option<&str>, headers: &[(&str, &str)]) -> (u16, String) {
    let mut request = Request::builder().uri("/api/tools").header("host", "localhost");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    if let Some(peer) = peer {
        let peer: SocketAddr = peer.parse().unwrap();
        request = request.extension(axum::extract::ConnectInfo(peer));
    }
    let request = request.body(axum::body::Body::empty()).unwrap();
    let response = router.oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let body = axum::body::to_bytes(response.into_body(), 1 << 20).await;
    (status, String::from_utf8(body.unwrap().to_vec()).unwrap())
}

#[tokio::test]
async fn without_credentials_only_a_client_on_this_machine_is_let_in() {
    let router = server().build().unwrap().router();
    for (peer, headers, expected) in [
        (Some("127.0.0.1:4000"), vec![], 200),
        (Some("[::1]:4000"), vec![], 200),
        (Some("[::ffff:127.0.0.1]:4000"), vec![], 200),
        (Some("192.0.2.7:4000"), vec![], 403),
        (Some("[2001:db8::7]:4000"), vec![], 403),
        (None, vec![], 403),
        (Some("127.0.0.1:4000"), vec![("x-forwarded-for", "192.0.2.7")], 403),
        (Some("127.0.0.1:4000"), vec![("forwarded", "for=192.0.2.7")], 403),
        (Some("127.0.0.1:4000"), vec![("x-real-ip", "192.0.2.7")], 403),
        (Some("127.0.0.1:4000"), vec![("x-forwarded-host", "example.com")], 403),
    ] {
        let (found, body) = status(router.clone(), peer, &headers).await;
        assert_eq!(found, expected, "{peer:?} {headers:?}: {body}");
    }
    let (_, body) = status(router, None, &[]).await;
    assert!(
        body.contains("into_make_service_with_connect_info") && body.contains("token"),
        "{body}"
    );
}

#[tokio::test]
async fn with_a_token_a_client_of_another_machine_is_let_in() {
    let router = server().token(Secret::new(token("ada"))).build().unwrap();
    let router = router.router();
    let bearer = format!("Bearer {}", token("ada"));
    let headers = [("authorization", bearer.as_str())];
    for peer in [Some("192.0.2.7:4000"), None] {
        assert_eq!(status(router.clone(), peer, &headers).await.0, 200);
        assert_eq!(status(router.clone(), peer, &[]).await.0, 401);
    }
}

#[tokio::test]
async fn a_program_of_its_own_serves_the_routes_on_loopback() {
    let site = server().build().unwrap();
    let app = Router::new().route("/own", axum::routing::get(async || "mine")).merge(site.router());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let app = app.into_make_service_with_connect_info::<SocketAddr>();
    let served = tokio::spawn(async move { axum::serve(listener, app).await });
    let client = crate::support::TestServer::at(addr);
    assert_eq!(client.get("/own").await.text(), "mine");
    assert_eq!(client.get("/api/tools").await.json(), json!([]));
    served.abort();
}
