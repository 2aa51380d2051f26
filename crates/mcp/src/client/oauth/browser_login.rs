//! A page to visit in, the address that the browser was sent back to out: a listener on this machine.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::client::oauth::{OAuthClient, UserAuthorizer};

/// Where the person is sent back to.
const CALLBACK_PATH: &str = "/callback";

/// No browser sends a longer request line.
const MAX_REQUEST_LINE: usize = 16 << 10;

/// How long one visitor may take to say what it wants.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

const DONE_TEXT: &str = "You can close this page and go back to the program that sent you here.\n";

/// Waits for the browser on loopback.
struct LoopbackRedirect {
    listener: TcpListener,
    base_url: String,
    show_url: Arc<dyn Fn(&str) + Send + Sync>,
}

impl OAuthClient {
    /// Lets a person authorize us in a browser on this machine, which is sent back to a port that only this machine reaches.
    ///
    /// `show` is given the page to visit: it prints it, or opens it.
    ///
    /// # Errors
    ///
    /// When no port can be had.
    pub async fn browser(show: impl Fn(&str) + Send + Sync + 'static) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let home = format!("http://{}", listener.local_addr()?);
        let redirect = format!("{home}{CALLBACK_PATH}");
        let browser = LoopbackRedirect {
            listener,
            base_url: home,
            show_url: Arc::new(show),
        };
        Ok(Self::new(redirect, Arc::new(browser)))
    }
}

impl UserAuthorizer for LoopbackRedirect {
    fn authorize<'a>(&'a self, page: &'a str) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            (self.show_url)(page);
            loop {
                let (mut visitor, _) = self.listener.accept().await.map_err(|e| e.to_string())?;
                let target =
                    tokio::time::timeout(REQUEST_TIMEOUT, read_request_target(&mut visitor)).await;
                let target = target.ok().and_then(Result::ok).unwrap_or_default();
                // Browsers also ask for icons, and anybody may knock.
                let is_back = target.starts_with(CALLBACK_PATH) && target.contains("state=");
                let (status, text) = match is_back {
                    true => ("200 OK", DONE_TEXT),
                    false => ("404 Not Found", ""),
                };
                let answer = format!(
                    "HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
                    text.len()
                );
                // Whether the browser still listens does not matter.
                let _ = visitor.write_all(answer.as_bytes()).await;
                let _ = visitor.shutdown().await;
                if is_back {
                    return parse_callback(&format!("{}{target}", self.base_url));
                }
            }
        })
    }
}

/// Takes the address, unless it says that the person refused.
fn parse_callback(address: &str) -> Result<String, String> {
    let url = url::Url::parse(address).map_err(|error| error.to_string())?;
    let said = |name: &str| {
        let mut pairs = url.query_pairs();
        pairs.find_map(|(key, value)| (key == name).then(|| value.into_owned()))
    };
    match said("error") {
        None => Ok(address.to_owned()),
        Some(error) => Err(said("error_description").unwrap_or(error)),
    }
}

/// Reads what a visitor asks for: the second word of the first line.
async fn read_request_target(visitor: &mut TcpStream) -> io::Result<String> {
    let mut read = Vec::new();
    let mut piece = [0; 1024];
    while !read.windows(2).any(|end| end == b"\r\n") && read.len() < MAX_REQUEST_LINE {
        let length = visitor.read(&mut piece).await?;
        match piece.get(..length) {
            Some([]) | None => break,
            Some(piece) => read.extend_from_slice(piece),
        }
    }
    let line = String::from_utf8_lossy(&read);
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

    async fn visit(home: &str, target: &str) -> String {
        let mut stream = TcpStream::connect(home.trim_start_matches("http://"))
            .await
            .unwrap();
        let request = format!("GET {target} HTTP/1.1\r\nhost: localhost\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    async fn came_back(target: &str) -> (String, Result<String, String>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let home = format!("http://{}", listener.local_addr().unwrap());
        let (shown, pages) = mpsc::channel();
        let browser = LoopbackRedirect {
            listener,
            base_url: home.clone(),
            show_url: Arc::new(move |page: &str| drop(shown.send(page.to_owned()))),
        };
        let person = async {
            assert!(visit(&home, "/favicon.ico").await.contains("404"));
            assert!(visit(&home, target).await.contains("200"));
        };
        let (back, ()) = tokio::join!(browser.authorize("https://login.example/"), person);
        assert_eq!(pages.try_recv().unwrap(), "https://login.example/");
        (home, back)
    }

    #[tokio::test]
    async fn who_comes_back_brings_the_outcome() {
        let (home, back) = came_back("/callback?code=1&state=2&iss=x").await;
        assert_eq!(
            back.unwrap(),
            format!("{home}/callback?code=1&state=2&iss=x")
        );
    }

    #[tokio::test]
    async fn who_refuses_is_quoted() {
        let (_, back) =
            came_back("/callback?error=access_denied&error_description=not+today&state=2").await;
        assert_eq!(back.unwrap_err(), "not today");
    }
}
