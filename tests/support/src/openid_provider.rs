//! An OpenID Connect provider in this process, which can be made to misbehave.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use data_encoding::{BASE64, BASE64URL_NOPAD, HEXLOWER};
use ring::hmac;
use ring::rand::{SecureRandom as _, SystemRandom};
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use tokio::net::TcpListener;

/// The id of its only client.
pub const CLIENT_ID: &str = "toolwright-test";
/// The secret of its only client.
pub const CLIENT_SECRET: &str = "a client secret: with/odd+signs";

/// How ID tokens are signed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Signing {
    /// By the newest published key.
    Published,
    /// By a key that is not published, under the id of one that is.
    WrongKey,
    /// Not at all: `alg` is `none`.
    None,
    /// By HMAC, with the published key as its secret.
    HmacOfPublicKey,
}

/// What the provider does; tests change it.
pub struct Behaviour {
    /// The claims of the person who signs in next.
    pub person: Value,
    /// Claims that ID tokens have instead of the right ones; null leaves one out.
    pub id_token_changes: Value,
    /// How ID tokens are signed.
    pub signing: Signing,
    /// The type in the header of ID tokens.
    pub token_type: &'static str,
    /// Whether the person is described by the ID token, or at the userinfo endpoint only.
    pub claims_in_id_token: bool,
    /// The `iss` of authorization responses.
    pub response_iss: Option<String>,
    /// The `issuer` of the metadata.
    pub published_issuer: String,
    /// Seconds; `None` is not sent.
    pub expires_in: Option<u64>,
    /// Whether there are refresh tokens.
    pub issues_refresh_tokens: bool,
    /// Whether a refresh returns another ID token.
    pub sends_id_token_on_refresh: bool,
    /// The status of every response of the token endpoint, if it is down.
    pub outage: Option<u16>,
    /// The number of requests to the token endpoint, by their grant type.
    pub requests: HashMap<String, usize>,
    /// Everything that must not be written anywhere.
    pub secrets: Vec<String>,
    /// The refresh tokens that were revoked.
    pub revoked: Vec<String>,
    keys: Vec<SigningKey>,
    codes: HashMap<String, IssuedCode>,
    refresh_tokens: HashMap<String, IssuedRefreshToken>,
    access_tokens: HashMap<String, Value>,
}

struct SigningKey {
    id: String,
    pair: EcdsaKeyPair,
}

struct IssuedCode {
    challenge: String,
    nonce: String,
    redirect_uri: String,
    person: Value,
}

struct IssuedRefreshToken {
    subject: String,
    is_used: bool,
}

/// A provider on a port of its own; cheap to clone.
#[derive(Clone)]
pub struct OpenIdServer {
    /// The URL that it is reached at.
    pub issuer: String,
    behaviour: Arc<Mutex<Behaviour>>,
}

/// A person with groups.
pub fn person(subject: &str, name: &str, groups: &[&str]) -> Value {
    json!({ "sub": subject, "name": name, "groups": groups })
}

impl OpenIdServer {
    /// Starts a provider in this process.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr: SocketAddr = listener.local_addr().unwrap();
        let issuer = format!("http://{addr}");
        let behaviour = Behaviour {
            person: person("1", "Ada", &["staff"]),
            id_token_changes: json!({}),
            signing: Signing::Published,
            token_type: "JWT",
            claims_in_id_token: true,
            response_iss: Some(issuer.clone()),
            published_issuer: issuer.clone(),
            expires_in: Some(3600),
            issues_refresh_tokens: true,
            sends_id_token_on_refresh: true,
            outage: None,
            requests: HashMap::new(),
            secrets: vec![CLIENT_SECRET.to_owned()],
            revoked: Vec::new(),
            keys: vec![SigningKey::generate()],
            codes: HashMap::new(),
            refresh_tokens: HashMap::new(),
            access_tokens: HashMap::new(),
        };
        let server = Self { issuer, behaviour: Arc::new(Mutex::new(behaviour)) };
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(show_metadata))
            .route("/keys", get(show_keys))
            .route("/token", post(issue_tokens))
            .route("/userinfo", get(describe_person))
            .route("/revoke", post(revoke_token))
            .with_state(server.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        server
    }

    /// What it does.
    pub fn behaviour(&self) -> MutexGuard<'_, Behaviour> {
        self.behaviour.lock().unwrap()
    }

    /// Signs with a new key from now on, and publishes no other.
    pub fn rotate_keys(&self) {
        self.behaviour().keys = vec![SigningKey::generate()];
    }

    /// Has the person approve an authorization request, and returns the address that the browser is sent back to.
    pub fn approve(&self, authorization_url: &str) -> String {
        let query = parse_form(authorization_url.split_once('?').unwrap().1);
        assert!(authorization_url.starts_with(&format!("{}/authorize?", self.issuer)));
        assert_eq!(query["response_type"], "code");
        assert_eq!(query["client_id"], CLIENT_ID);
        assert_eq!(query["code_challenge_method"], "S256");
        assert!(query["scope"].split(' ').any(|scope| scope == "openid"));
        let code = random();
        let mut behaviour = self.behaviour();
        let issued = IssuedCode {
            challenge: query["code_challenge"].clone(),
            nonce: query["nonce"].clone(),
            redirect_uri: query["redirect_uri"].clone(),
            person: behaviour.person.clone(),
        };
        behaviour.codes.insert(code.clone(), issued);
        behaviour.secrets.push(code.clone());
        let iss = behaviour.response_iss.as_deref();
        let iss = iss.map_or_else(String::new, |iss| format!("&iss={}", encode(iss)));
        format!("{}?code={code}&state={}{iss}", query["redirect_uri"], query["state"])
    }

    /// Ends the sessions of all people: no refresh token is accepted any more.
    pub fn end_all_sessions(&self) {
        self.behaviour().refresh_tokens.clear();
    }
}

impl SigningKey {
    fn generate() -> Self {
        let random = SystemRandom::new();
        let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let pair =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, key.as_ref(), &random);
        Self { id: self::random(), pair: pair.unwrap() }
    }

    fn to_jwk(&self) -> Value {
        let point = self.pair.public_key().as_ref();
        let part = |bytes: &[u8]| BASE64URL_NOPAD.encode(bytes);
        json!({
            "kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": self.id,
            "x": part(&point[1..33]), "y": part(&point[33..]),
        })
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        self.pair.sign(&SystemRandom::new(), message).unwrap().as_ref().to_vec()
    }
}

impl Behaviour {
    fn id_token(&mut self, person: &Value, nonce: Option<&str>) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        let mut claims = json!({
            "iss": self.published_issuer, "aud": CLIENT_ID, "iat": now, "exp": now + 300,
            "sub": person["sub"],
        });
        let all = claims.as_object_mut().unwrap();
        if self.claims_in_id_token {
            all.extend(person.as_object().unwrap().clone());
        }
        all.extend(nonce.map(|nonce| ("nonce".to_owned(), json!(nonce))));
        for (name, value) in self.id_token_changes.as_object().unwrap() {
            match value {
                Value::Null => all.remove(name),
                value => all.insert(name.clone(), value.clone()),
            };
        }
        let key = self.keys.last().unwrap();
        let alg = match self.signing {
            Signing::None => "none",
            Signing::HmacOfPublicKey => "HS256",
            _ => "ES256",
        };
        let header = json!({ "alg": alg, "kid": key.id, "typ": self.token_type });
        let part = |value: &Value| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
        let signed = format!("{}.{}", part(&header), part(&claims));
        let signature = match self.signing {
            Signing::Published => key.sign(signed.as_bytes()),
            Signing::WrongKey => SigningKey::generate().sign(signed.as_bytes()),
            Signing::None => Vec::new(),
            Signing::HmacOfPublicKey => {
                let secret = key.to_jwk().to_string();
                let secret = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
                hmac::sign(&secret, signed.as_bytes()).as_ref().to_vec()
            }
        };
        let token = format!("{signed}.{}", BASE64URL_NOPAD.encode(&signature));
        self.secrets.push(token.clone());
        token
    }

    fn tokens(&mut self, person: &Value, nonce: Option<&str>, with_id_token: bool) -> Value {
        let access_token = random();
        self.secrets.push(access_token.clone());
        self.access_tokens.insert(access_token.clone(), person.clone());
        let mut tokens = Map::new();
        tokens.insert("access_token".to_owned(), json!(access_token));
        tokens.insert("token_type".to_owned(), json!("Bearer"));
        if let Some(seconds) = self.expires_in {
            tokens.insert("expires_in".to_owned(), json!(seconds));
        }
        if with_id_token {
            tokens.insert("id_token".to_owned(), json!(self.id_token(person, nonce)));
        }
        if self.issues_refresh_tokens {
            let token = random();
            let subject = person["sub"].as_str().unwrap().to_owned();
            self.secrets.push(token.clone());
            self.refresh_tokens
                .insert(token.clone(), IssuedRefreshToken { subject, is_used: false });
            tokens.insert("refresh_token".to_owned(), json!(token));
        }
        tokens.into()
    }

    /// Exchanges a refresh token: one that was used already ends all sessions of its subject.
    fn redeem_refresh_token(&mut self, token: &str) -> Result<(), &'static str> {
        let found = self.refresh_tokens.get_mut(token).ok_or("invalid_grant")?;
        let (subject, is_used) = (found.subject.clone(), found.is_used);
        found.is_used = true;
        if is_used {
            self.refresh_tokens.retain(|_, other| other.subject != subject);
            return Err("invalid_grant");
        }
        Ok(())
    }
}

async fn show_metadata(State(server): State<OpenIdServer>) -> Response {
    let issuer = &server.issuer;
    let published = server.behaviour().published_issuer.clone();
    answer(
        200,
        &json!({
            "issuer": published,
            "authorization_endpoint": format!("{issuer}/authorize"),
            "token_endpoint": format!("{issuer}/token"),
            "userinfo_endpoint": format!("{issuer}/userinfo"),
            "end_session_endpoint": format!("{issuer}/end?from=metadata"),
            "revocation_endpoint": format!("{issuer}/revoke"),
            "jwks_uri": format!("{issuer}/keys"),
            "id_token_signing_alg_values_supported": ["ES256", "RS256"],
            "authorization_response_iss_parameter_supported": true,
        }),
    )
}

async fn show_keys(State(server): State<OpenIdServer>) -> Response {
    let keys: Vec<Value> = server.behaviour().keys.iter().map(SigningKey::to_jwk).collect();
    answer(200, &json!({ "keys": keys }))
}

async fn issue_tokens(State(server): State<OpenIdServer>, request: Request<Body>) -> Response {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let form = parse_form(std::str::from_utf8(&body).unwrap());
    let mut behaviour = server.behaviour();
    *behaviour.requests.entry(form["grant_type"].clone()).or_default() += 1;
    if let Some(status) = behaviour.outage {
        return answer(status, &json!({ "error": "server_error" }));
    }
    if !is_client(&head.headers) {
        return answer(401, &json!({ "error": "invalid_client" }));
    }
    let refused = |code: &str| answer(400, &json!({ "error": code }));
    match &*form["grant_type"] {
        "authorization_code" => {
            let Some(code) = behaviour.codes.remove(&form["code"]) else {
                return refused("invalid_grant");
            };
            behaviour.secrets.push(form["code_verifier"].clone());
            let challenge = BASE64URL_NOPAD.encode(&Sha256::digest(&form["code_verifier"]));
            if challenge != code.challenge || form["redirect_uri"] != code.redirect_uri {
                return refused("invalid_grant");
            }
            let tokens = behaviour.tokens(&code.person, Some(&code.nonce), true);
            answer(200, &tokens)
        }
        "refresh_token" => match behaviour.redeem_refresh_token(&form["refresh_token"]) {
            Ok(()) => {
                let (person, with_id_token) =
                    (behaviour.person.clone(), behaviour.sends_id_token_on_refresh);
                let tokens = behaviour.tokens(&person, None, with_id_token);
                answer(200, &tokens)
            }
            Err(code) => refused(code),
        },
        _ => refused("unsupported_grant_type"),
    }
}

async fn describe_person(State(server): State<OpenIdServer>, headers: HeaderMap) -> Response {
    let token = headers[header::AUTHORIZATION].to_str().unwrap().strip_prefix("Bearer ");
    match server.behaviour().access_tokens.get(token.unwrap_or_default()) {
        Some(person) => answer(200, person),
        None => answer(401, &json!({})),
    }
}

async fn revoke_token(State(server): State<OpenIdServer>, body: String) -> Response {
    let token = parse_form(&body)["token"].clone();
    let mut behaviour = server.behaviour();
    behaviour.refresh_tokens.remove(&token);
    behaviour.revoked.push(token);
    answer(200, &json!({}))
}

fn is_client(headers: &HeaderMap) -> bool {
    let header = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let pair = format!("{}:{}", encode(CLIENT_ID), encode(CLIENT_SECRET));
    header == Some(&format!("Basic {}", BASE64.encode(pair.as_bytes())))
}

fn answer(status: u16, body: &Value) -> Response {
    let headers = [(header::CONTENT_TYPE, "application/json")];
    (StatusCode::from_u16(status).unwrap(), headers, body.to_string()).into_response()
}

fn random() -> String {
    let mut bytes = [0; 16];
    SystemRandom::new().fill(&mut bytes).unwrap();
    HEXLOWER.encode(&bytes)
}

/// Encodes as in a form.
pub fn encode(text: &str) -> String {
    let encode = |byte: u8| match byte {
        b' ' => "+".to_owned(),
        byte if byte.is_ascii_alphanumeric() || b"-._*".contains(&byte) => char::from(byte).into(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}

/// Decodes a form or a query.
pub fn parse_form(text: &str) -> HashMap<String, String> {
    let decode = |text: &str| {
        let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
        while let [first, others @ ..] = rest {
            rest = others;
            match (first, others) {
                (b'+', _) => bytes.push(b' '),
                (b'%', [high, low, ..]) => {
                    let digits = [*high, *low].to_ascii_lowercase();
                    bytes.extend(HEXLOWER.decode(&digits).unwrap());
                    rest = &others[2..];
                }
                _ => bytes.push(*first),
            }
        }
        String::from_utf8(bytes).unwrap()
    };
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.map(|(name, value)| (decode(name), decode(value))).collect()
}
