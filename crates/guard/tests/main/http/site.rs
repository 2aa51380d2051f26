//! A site on loopback with scripted responses.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use rcgen::CertifiedKey;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

/// What the site does with a request.
pub(crate) enum Reply {
    /// Sends this and closes.
    Whole(Vec<u8>),
    /// Sends the first text, then repeats the second until the client disconnects.
    Endless(&'static str, &'static str),
    /// Sends this, then nothing more until the client disconnects.
    Stalled(&'static str),
}

impl From<String> for Reply {
    fn from(text: String) -> Self {
        Self::Whole(text.into_bytes())
    }
}

impl From<&str> for Reply {
    fn from(text: &str) -> Self {
        Self::Whole(text.as_bytes().to_vec())
    }
}

pub(crate) fn ok(body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\r\n{body}")
}

pub(crate) fn redirect(location: &str) -> String {
    format!("HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n")
}

/// A site, which serves until the test's runtime ends.
pub(crate) struct Site {
    pub(crate) address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Site {
    /// Starts a site; the script receives the path of each request.
    pub(crate) async fn start<R: Into<Reply>>(
        script: impl Fn(&str) -> R + Send + Sync + 'static,
    ) -> Self {
        Self::serve(script, None).await
    }

    /// Starts a site with TLS for `host`; also returns its certificate.
    pub(crate) async fn start_tls<R: Into<Reply>>(
        host: &str,
        script: impl Fn(&str) -> R + Send + Sync + 'static,
    ) -> (Self, String) {
        let CertifiedKey { cert, signing_key } =
            rcgen::generate_simple_self_signed([host.to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .unwrap();
        let site = Self::serve(script, Some(Arc::new(config).into())).await;
        (site, cert.pem())
    }

    async fn serve<R: Into<Reply>>(
        script: impl Fn(&str) -> R + Send + Sync + 'static,
        tls: Option<TlsAcceptor>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let (seen, script) = (Arc::clone(&heads), Arc::new(script));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, script, tls) = (Arc::clone(&seen), Arc::clone(&script), tls.clone());
                tokio::spawn(async move {
                    let script = |path: &str| script(path).into();
                    match tls {
                        None => respond(stream, &seen, script).await,
                        Some(tls) => match tls.accept(stream).await {
                            Ok(stream) => respond(stream, &seen, script).await,
                            // The client rejected the certificate.
                            Err(_) => None,
                        },
                    }
                });
            }
        });
        Self { address, heads }
    }

    pub(crate) fn url(&self, scheme: &str, host: &str, path: &str) -> String {
        format!("{scheme}://{host}:{}{path}", self.address.port())
    }

    /// The heads of all requests so far.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

/// Responds to one request; returns early when the client disconnects.
async fn respond<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    seen: &Mutex<Vec<String>>,
    script: impl Fn(&str) -> Reply,
) -> Option<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).unwrap();
    let path = head.split(' ').nth(1).unwrap().to_owned();
    seen.lock().unwrap().push(head);
    match script(&path) {
        Reply::Whole(bytes) => {
            stream.write_all(&bytes).await.ok()?;
            stream.shutdown().await.ok()
        }
        Reply::Endless(first, again) => {
            stream.write_all(first.as_bytes()).await.ok()?;
            loop {
                stream.write_all(again.as_bytes()).await.ok()?;
            }
        }
        Reply::Stalled(first) => {
            stream.write_all(first.as_bytes()).await.ok()?;
            stream.read_u8().await.ok().map(drop)
        }
    }
}
