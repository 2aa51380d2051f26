//! A small authorization server with keys that rotate, which authorizes every client.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{RawQuery, State};
use axum::http::{Response, StatusCode, header};
use axum::routing::{get, post};
use data_encoding::BASE64URL_NOPAD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::net::TcpListener;
use tokio::sync::RwLock;
use url::form_urlencoded;

/// A signing key and its id.
pub(crate) struct Key {
    pub(crate) kid: String,
    pair: EcdsaKeyPair,
}

impl Key {
    pub(crate) fn new(kid: &str) -> Self {
        let random = SystemRandom::new();
        let how = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let text = EcdsaKeyPair::generate_pkcs8(how, &random).unwrap();
        Self {
            kid: kid.to_owned(),
            pair: EcdsaKeyPair::from_pkcs8(how, text.as_ref(), &random).unwrap(),
        }
    }

    /// The public key as an uncompressed point.
    pub(crate) fn public(&self) -> &[u8] {
        self.pair.public_key().as_ref()
    }

    pub(crate) fn published(&self) -> Value {
        let (x, y) = self.public()[1..].split_at(32);
        let (x, y) = (BASE64URL_NOPAD.encode(x), BASE64URL_NOPAD.encode(y));
        json!({ "kty": "EC", "crv": "P-256", "kid": self.kid, "use": "sig", "x": x, "y": y })
    }

    pub(crate) fn sign(&self, claims: &Value) -> String {
        let header = json!({ "alg": "ES256", "typ": "at+jwt", "kid": self.kid });
        self.sign_as(&header, claims)
    }

    pub(crate) fn sign_as(&self, header: &Value, claims: &Value) -> String {
        let text = unsigned(header, claims);
        let signature = self.pair.sign(&SystemRandom::new(), text.as_bytes());
        let signature = BASE64URL_NOPAD.encode(signature.unwrap().as_ref());
        format!("{text}.{signature}")
    }
}

/// A token without its signature.
pub(crate) fn unsigned(header: &Value, claims: &Value) -> String {
    let part = |value: &Value| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
    format!("{}.{}", part(header), part(claims))
}

pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap().as_secs()
}

/// The claims of a token that is valid for five minutes.
pub(crate) fn claims(issuer: &str, resource: &str, subject: &str, scope: &str) -> Value {
    json!({
        "iss": issuer, "sub": subject, "aud": resource, "scope": scope,
        "iat": now(), "exp": now() + 300,
    })
}

/// An authorization server on a port of the system's choice.
pub(crate) struct Issuer {
    pub(crate) url: String,
    keys: Mutex<Vec<Arc<Key>>>,
    /// How often the keys were fetched.
    pub(crate) fetched: AtomicUsize,
    /// Whether keys cannot be fetched.
    pub(crate) is_down: AtomicBool,
    /// While it is locked for writing, keys are on their way.
    pub(crate) way: RwLock<()>,
    /// The requested scopes of each authorization.
    pub(crate) asked: Mutex<Vec<String>>,
    /// The parameters of each authorization, by its code.
    codes: Mutex<HashMap<String, HashMap<String, String>>>,
}

impl Issuer {
    pub(crate) async fn open() -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer = Arc::new(Self {
            url: format!("http://{}", listener.local_addr().unwrap()),
            keys: Mutex::new(vec![Arc::new(Key::new("first"))]),
            fetched: AtomicUsize::new(0),
            is_down: AtomicBool::new(false),
            way: RwLock::default(),
            asked: Mutex::default(),
            codes: Mutex::default(),
        });
        let app = Router::new()
            .route("/.well-known/oauth-authorization-server", get(metadata))
            .route("/keys", get(keys))
            .route("/register", post(register))
            .route("/authorize", get(authorize))
            .route("/token", post(token))
            .with_state(Arc::clone(&issuer));
        tokio::spawn(async move { axum::serve(listener, app).await });
        issuer
    }

    /// The key that signs now.
    pub(crate) fn key(&self) -> Arc<Key> {
        Arc::clone(self.keys.lock().unwrap().last().unwrap())
    }

    /// Signs with another key from now on.
    pub(crate) fn rotate(&self, kid: &str) {
        *self.keys.lock().unwrap() = vec![Arc::new(Key::new(kid))];
    }
}

fn json_response(value: &Value) -> Response<Body> {
    let json = (header::CONTENT_TYPE, "application/json");
    let response = Response::builder().header(json.0, json.1);
    response.body(Body::from(value.to_string())).unwrap()
}

fn fields(form: &[u8]) -> HashMap<String, String> {
    form_urlencoded::parse(form).into_owned().collect()
}

async fn metadata(State(issuer): State<Arc<Issuer>>) -> Response<Body> {
    let at = |path: &str| format!("{}{path}", issuer.url);
    json_response(&json!({
        "issuer": issuer.url,
        "authorization_endpoint": at("/authorize"),
        "token_endpoint": at("/token"),
        "registration_endpoint": at("/register"),
        "jwks_uri": at("/keys"),
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        "authorization_response_iss_parameter_supported": true,
    }))
}

async fn keys(State(issuer): State<Arc<Issuer>>) -> Response<Body> {
    issuer.fetched.fetch_add(1, Ordering::SeqCst);
    if issuer.is_down.load(Ordering::SeqCst) {
        let response = Response::builder().status(StatusCode::BAD_GATEWAY);
        return response.body(Body::empty()).unwrap();
    }
    let keys = issuer.keys.lock().unwrap().clone();
    let keys: Vec<Value> = keys.iter().map(|key| key.published()).collect();
    drop(issuer.way.read().await);
    json_response(&json!({ "keys": keys }))
}

async fn register(body: Bytes) -> Response<Body> {
    let mut client: Value = serde_json::from_slice(&body).unwrap();
    client["client_id"] = json!("client-1");
    client["token_endpoint_auth_method"] = json!("none");
    let mut response = json_response(&client);
    *response.status_mut() = StatusCode::CREATED;
    response
}

/// Authorizes without a login page.
async fn authorize(State(issuer): State<Arc<Issuer>>, RawQuery(query): RawQuery) -> Response<Body> {
    let asked = fields(query.unwrap_or_default().as_bytes());
    let scope = asked.get("scope").cloned().unwrap_or_default();
    issuer.asked.lock().unwrap().push(scope);
    let back: String = {
        let mut codes = issuer.codes.lock().unwrap();
        let code = format!("code-{}", codes.len());
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("code", &code)
            .append_pair("state", asked.get("state").map_or("", String::as_str))
            .append_pair("iss", &issuer.url)
            .finish();
        let back = format!("{}?{query}", asked["redirect_uri"]);
        codes.insert(code, asked);
        back
    };
    let response = Response::builder().status(StatusCode::FOUND);
    let response = response.header(header::LOCATION, back);
    response.body(Body::empty()).unwrap()
}

async fn token(State(issuer): State<Arc<Issuer>>, body: Bytes) -> Response<Body> {
    let sent = fields(&body);
    let asked = issuer.codes.lock().unwrap().remove(&sent["code"]).unwrap();
    let challenge = BASE64URL_NOPAD.encode(&Sha256::digest(&sent["code_verifier"]));
    assert_eq!(asked["code_challenge"], challenge);
    assert_eq!(asked["resource"], sent["resource"]);
    let scope = asked.get("scope").map_or("", String::as_str);
    let claims = claims(&issuer.url, &sent["resource"], "ada", scope);
    let token = issuer.key().sign(&claims);
    json_response(&json!({
        "access_token": token, "token_type": "Bearer", "expires_in": 300, "scope": scope,
    }))
}
