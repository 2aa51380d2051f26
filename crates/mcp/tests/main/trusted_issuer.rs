//! Credentials stay with their issuer, whatever an attached server names as its authorization server.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Response, StatusCode, header};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use toolwright::mcp::{MemoryPins, OAuthClient, PinStore, RemoteServer};
use toolwright::{Config, ConfigSources, Registry, Secret};
use toolwright_mcp::ISSUER_PIN;

const SECRET: &str = "the-secret-of-the-client";

/// An HTTP server that answers with JSON documents by their paths, and keeps the bodies and headers that it has received.
#[derive(Default)]
struct Documents {
    by_path: Mutex<Vec<(String, Value)>>,
    received: Mutex<String>,
}

impl Documents {
    fn publish(&self, path: &str, document: Value) {
        let mut documents = self.by_path.lock().unwrap();
        documents.retain(|(known, _)| known != path);
        documents.push((path.to_owned(), document));
    }

    /// Returns true if the server has received the secret.
    fn has_secret(&self) -> bool {
        // As a field of a form, or in `Authorization: Basic`.
        let received = self.received.lock().unwrap();
        let basic = data_encoding::BASE64.encode(format!("toolwright:{SECRET}").as_bytes());
        received.contains(SECRET) || received.contains(&basic)
    }
}

async fn serve() -> (String, Arc<Documents>) {
    async fn answer(State(documents): State<Arc<Documents>>, request: Request) -> Response<Body> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let received = format!("{:?}{}", head.headers, String::from_utf8_lossy(&body));
        documents.received.lock().unwrap().push_str(&received);
        let by_path = documents.by_path.lock().unwrap();
        let found = by_path.iter().find(|(path, _)| path == head.uri.path());
        let response = Response::builder().header(header::CONTENT_TYPE, "application/json");
        match found {
            Some((_, document)) => response.body(Body::from(document.to_string())),
            None if head.uri.path() == "/mcp" => {
                let challenge =
                    r#"Bearer resource_metadata="/.well-known/oauth-protected-resource""#;
                let response = response.status(StatusCode::UNAUTHORIZED);
                response.header(header::WWW_AUTHENTICATE, challenge).body(Body::empty())
            }
            None => response.status(StatusCode::NOT_FOUND).body(Body::empty()),
        }
        .unwrap()
    }

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let documents = Arc::<Documents>::default();
    let app = Router::new().fallback(answer).with_state(Arc::clone(&documents));
    tokio::spawn(async move { axum::serve(listener, app).await });
    (url, documents)
}

/// The metadata of an issuer whose token endpoint is at `token`.
fn metadata(issuer: &str, token: &str) -> Value {
    json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{token}/token"),
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
        "grant_types_supported": ["client_credentials"],
        "token_endpoint_auth_methods_supported": ["client_secret_post"],
    })
}

/// An authorization server that gives a token to everyone.
async fn authorization_server() -> (String, Arc<Documents>) {
    let (url, documents) = serve().await;
    documents.publish("/.well-known/oauth-authorization-server", metadata(&url, &url));
    documents.publish("/token", json!({ "access_token": "granted", "token_type": "Bearer" }));
    (url, documents)
}

/// A server to attach; it names its authorization server, and never accepts a token.
struct Shop {
    url: String,
    documents: Arc<Documents>,
}

impl Shop {
    async fn open(authorization_server: &str) -> Self {
        let (url, documents) = serve().await;
        let shop = Self { url: format!("{url}/mcp"), documents };
        shop.name(authorization_server);
        shop
    }

    /// Names another authorization server.
    fn name(&self, authorization_server: &str) {
        let document = json!({
            "resource": self.url, "authorization_servers": [authorization_server],
        });
        self.documents.publish("/.well-known/oauth-protected-resource", document.clone());
        self.documents.publish("/.well-known/oauth-protected-resource/mcp", document);
    }

    fn remote(&self, pins: &Arc<dyn PinStore>) -> RemoteServer {
        let oauth = OAuthClient::client_credentials("toolwright", Secret::new(SECRET));
        RemoteServer::url("shop", &*self.url).oauth(oauth).pins(Arc::clone(pins))
    }
}

/// Attaches a server that rejects every token; returns the error.
async fn attach(server: RemoteServer) -> String {
    let error = server.attach(&Registry::new()).await.unwrap_err();
    error.to_string()
}

fn pins() -> Arc<dyn PinStore> {
    Arc::new(MemoryPins::new())
}

#[tokio::test]
async fn a_client_secret_does_not_go_to_another_authorization_server_than_the_first() {
    let (good, asked) = authorization_server().await;
    let (evil, robber) = authorization_server().await;
    let (shop, pins) = (Shop::open(&good).await, pins());
    attach(shop.remote(&pins)).await;
    assert!(asked.has_secret());

    shop.name(&evil);
    let error = attach(shop.remote(&pins)).await;
    assert!(!robber.has_secret(), "{error}");
    assert!(error.contains("changed to") && error.contains(&evil), "{error}");
    assert!(error.contains("mcp accept shop"), "{error}");

    // A person says that it is right.
    assert!(pins.accept("shop", ISSUER_PIN).await.unwrap());
    attach(shop.remote(&pins)).await;
    assert!(robber.has_secret());
}

#[tokio::test]
async fn the_issuer_of_the_settings_is_the_only_one_from_the_first_use_on() {
    let (good, asked) = authorization_server().await;
    let (evil, robber) = authorization_server().await;
    let shop = Shop::open(&evil).await;
    let settings = [
        ("mcp.servers.shop.url", &*shop.url),
        ("mcp.servers.shop.oauth", "shared"),
        ("mcp.servers.shop.grant", "client_credentials"),
        ("mcp.servers.shop.client_id", "toolwright"),
        ("mcp.servers.shop.client_secret", SECRET),
        ("mcp.servers.shop.issuer", &*good),
    ];
    let config = Config::load(ConfigSources::new().defaults(settings)).unwrap().config;
    let server = || RemoteServer::from_config(&config).unwrap().remove(0);
    let error = attach(server()).await;
    assert!(!robber.has_secret(), "{error}");
    assert!(error.contains(&good) && error.contains(&evil), "{error}");
    shop.name(&good);
    attach(server()).await;
    assert!(asked.has_secret());
}

#[tokio::test]
async fn a_document_that_claims_the_issuer_and_names_an_endpoint_elsewhere_is_refused() {
    let (good, _) = authorization_server().await;
    let (evil, robber) = authorization_server().await;
    // No rule says whose metadata are at this path.
    robber.publish("/.well-known/login", metadata(&good, &evil));
    let shop = Shop::open(&format!("{evil}/.well-known/login")).await;
    for issuer in [None, Some(&good)] {
        let oauth = OAuthClient::client_credentials("toolwright", Secret::new(SECRET));
        let oauth = issuer.into_iter().fold(oauth, |oauth, issuer| oauth.issuer(issuer));
        let error = attach(RemoteServer::url("shop", &*shop.url).oauth(oauth)).await;
        assert!(!robber.has_secret(), "{error}");
        assert!(error.contains("another host"), "{error}");
    }
}

#[tokio::test]
async fn an_issuer_may_have_its_endpoints_elsewhere_if_its_own_metadata_say_so() {
    let (issuer, documents) = authorization_server().await;
    let (tokens, asked) = authorization_server().await;
    let path = "/.well-known/oauth-authorization-server";
    documents.publish(path, metadata(&issuer, &tokens));
    let shop = Shop::open(&issuer).await;
    attach(shop.remote(&pins())).await;
    assert!(asked.has_secret());
}
