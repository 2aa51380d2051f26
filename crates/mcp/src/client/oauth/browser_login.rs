//! Authorization in a browser on this machine, which is redirected to a loopback listener.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::client::oauth::login::{check_callback, query_parameter};
use crate::client::oauth::{OAuthClient, UserAuthorizer};

const CALLBACK_PATH: &str = "/callback";

/// Longer requests are not read to their end. Browsers send this port the cookies of every port of the machine.
const MAX_REQUEST: usize = 64 << 10;

/// The time that a connection has to send its request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

const DONE_TEXT: &str = "You can close this page and go back to the program that sent you here.\n";

/// Receives the browser of a user who has logged in, at a port of this machine.
pub struct RedirectListener {
    listener: TcpListener,
    base_url: String,
}

impl RedirectListener {
    /// Listens at a loopback port; 0 is any that is free.
    ///
    /// # Errors
    ///
    /// When the port is not available.
    pub async fn bind(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let base_url = format!("http://{}", listener.local_addr()?);
        Ok(Self { listener, base_url })
    }

    /// Returns the address that the browser is redirected to.
    pub fn redirect_url(&self) -> String {
        format!("{}{CALLBACK_PATH}", self.base_url)
    }

    /// Waits for the redirect that belongs to `page`, and returns its whole address.
    ///
    /// # Errors
    ///
    /// When the user has not consented: the reason that the redirect contains.
    pub async fn wait_for_redirect(&self, page: &str) -> Result<String, String> {
        let state = query_parameter(page, "state").unwrap_or_default();
        loop {
            let (mut stream, _) = self.listener.accept().await.map_err(|e| e.to_string())?;
            let target =
                tokio::time::timeout(REQUEST_TIMEOUT, read_request_target(&mut stream)).await;
            let target = target.ok().and_then(Result::ok).unwrap_or_default();
            let address = format!("{}{target}", self.base_url);
            // Browsers also request icons, and other programs may connect.
            let is_callback = target.starts_with(CALLBACK_PATH)
                && query_parameter(&address, "state").is_some_and(|actual| actual == state);
            let (status, text) = match is_callback {
                true => ("200 OK", DONE_TEXT),
                false => ("404 Not Found", ""),
            };
            let response = format!(
                "HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
                text.len()
            );
            // It does not matter if the browser has closed the connection.
            let _ = stream.write_all(response.as_bytes()).await;
            let _ = stream.shutdown().await;
            if is_callback {
                return check_callback(&address);
            }
        }
    }
}

struct LoopbackRedirect {
    listener: RedirectListener,
    show_url: Arc<dyn Fn(&str) + Send + Sync>,
}

impl OAuthClient {
    /// Authorization by a user in a browser on this machine, which is redirected to a loopback port.
    ///
    /// `show` receives the address of the page to visit, and prints or opens it.
    ///
    /// # Errors
    ///
    /// When no port is available.
    pub async fn browser(show: impl Fn(&str) + Send + Sync + 'static) -> io::Result<Self> {
        let listener = RedirectListener::bind(0).await?;
        let redirect = listener.redirect_url();
        Ok(Self::new(redirect, Arc::new(LoopbackRedirect { listener, show_url: Arc::new(show) })))
    }
}

impl UserAuthorizer for LoopbackRedirect {
    fn authorize<'a>(&'a self, page: &'a str) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            (self.show_url)(page);
            self.listener.wait_for_redirect(page).await
        })
    }
}

/// Reads a GET request, and returns its target: the second word of the request line.
///
/// Reads the headers too: a connection that is closed before they are read is reset, and the browser shows an error.
async fn read_request_target(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<String> {
    let mut request = Vec::new();
    let mut buffer = [0; 1024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") && request.len() < MAX_REQUEST {
        let length = stream.read(&mut buffer).await?;
        match buffer.get(..length) {
            Some([]) | None => break,
            Some(chunk) => request.extend_from_slice(chunk),
        }
    }
    let line = String::from_utf8_lossy(&request);
    let mut words = line.lines().next().unwrap_or_default().split(' ');
    match words.next() {
        Some("GET") => Ok(words.next().unwrap_or_default().to_owned()),
        _ => Ok(String::new()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use tokio::net::TcpStream;

    use super::*;

    async fn visit(base_url: &str, target: &str) -> String {
        let mut stream = TcpStream::connect(base_url.trim_start_matches("http://")).await.unwrap();
        let request = format!("GET {target} HTTP/1.1\r\nhost: localhost\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).await.unwrap();
        response
    }

    async fn callback(target: &str) -> (String, Result<String, String>) {
        let listener = RedirectListener::bind(0).await.unwrap();
        let base_url = listener.base_url.clone();
        let (shown, pages) = mpsc::channel();
        let show_url = Arc::new(move |page: &str| drop(shown.send(page.to_owned())));
        let browser = LoopbackRedirect { listener, show_url };
        let user = async {
            assert!(visit(&base_url, "/favicon.ico").await.contains("404"));
            assert!(visit(&base_url, "/callback?code=9&state=forged").await.contains("404"));
            assert!(visit(&base_url, target).await.contains("200"));
        };
        let page = "https://login.example/?state=2";
        let (result, ()) = tokio::join!(browser.authorize(page), user);
        assert_eq!(pages.try_recv().unwrap(), page);
        (base_url, result)
    }

    #[tokio::test]
    async fn the_callback_has_the_outcome() {
        let (base_url, result) = callback("/callback?code=1&state=2&iss=x").await;
        assert_eq!(result.unwrap(), format!("{base_url}/callback?code=1&state=2&iss=x"));
    }

    #[tokio::test]
    async fn the_error_is_the_description_in_the_callback() {
        let (_, result) =
            callback("/callback?error=access_denied&error_description=not+today&state=2").await;
        assert_eq!(result.unwrap_err(), "not today");
    }

    #[tokio::test]
    async fn headers_that_arrive_later_are_read_before_the_response() {
        let (first, mut second) =
            (&b"GET /callback?code=1 HTTP/1.1\r\n"[..], &b"host: a\r\n\r\n"[..]);
        let mut request = first.chain(&mut second);
        assert_eq!(read_request_target(&mut request).await.unwrap(), "/callback?code=1");
        assert!(second.is_empty(), "the headers were not read");
    }
}
