//! Authorization in a browser on this machine, which is redirected to a loopback listener.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::client::oauth::{OAuthClient, UserAuthorizer};

const CALLBACK_PATH: &str = "/callback";

/// Longer request lines are truncated.
const MAX_REQUEST_LINE: usize = 16 << 10;

/// The time that a connection has to send its request line.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

const DONE_TEXT: &str = "You can close this page and go back to the program that sent you here.\n";

struct LoopbackRedirect {
    listener: TcpListener,
    base_url: String,
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
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let base_url = format!("http://{}", listener.local_addr()?);
        let redirect = format!("{base_url}{CALLBACK_PATH}");
        let browser = LoopbackRedirect { listener, base_url, show_url: Arc::new(show) };
        Ok(Self::new(redirect, Arc::new(browser)))
    }
}

impl UserAuthorizer for LoopbackRedirect {
    fn authorize<'a>(&'a self, page: &'a str) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            (self.show_url)(page);
            loop {
                let (mut stream, _) = self.listener.accept().await.map_err(|e| e.to_string())?;
                let target =
                    tokio::time::timeout(REQUEST_TIMEOUT, read_request_target(&mut stream)).await;
                let target = target.ok().and_then(Result::ok).unwrap_or_default();
                // Browsers also request icons, and other programs may connect.
                let is_callback = target.starts_with(CALLBACK_PATH) && target.contains("state=");
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
                    return parse_callback(&format!("{}{target}", self.base_url));
                }
            }
        })
    }
}

/// Returns the address, or the error in its query.
fn parse_callback(address: &str) -> Result<String, String> {
    let url = url::Url::parse(address).map_err(|error| error.to_string())?;
    let parameter = |name: &str| {
        let mut pairs = url.query_pairs();
        pairs.find_map(|(key, value)| (key == name).then(|| value.into_owned()))
    };
    match parameter("error") {
        None => Ok(address.to_owned()),
        Some(error) => Err(parameter("error_description").unwrap_or(error)),
    }
}

/// Reads the target of a GET request: the second word of the request line.
async fn read_request_target(stream: &mut TcpStream) -> io::Result<String> {
    let mut request = Vec::new();
    let mut buffer = [0; 1024];
    while !request.windows(2).any(|end| end == b"\r\n") && request.len() < MAX_REQUEST_LINE {
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
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}", listener.local_addr().unwrap());
        let (shown, pages) = mpsc::channel();
        let browser = LoopbackRedirect {
            listener,
            base_url: base_url.clone(),
            show_url: Arc::new(move |page: &str| drop(shown.send(page.to_owned()))),
        };
        let user = async {
            assert!(visit(&base_url, "/favicon.ico").await.contains("404"));
            assert!(visit(&base_url, target).await.contains("200"));
        };
        let (result, ()) = tokio::join!(browser.authorize("https://login.example/"), user);
        assert_eq!(pages.try_recv().unwrap(), "https://login.example/");
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
}
