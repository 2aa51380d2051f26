//! A tool for pages of the public internet only.

use std::fmt::Write;

use toolwright::guard::{FetchResponse, SafeHttp};
use toolwright::{ToolError, tool};

/// Fetches a page of the public internet and returns its text.
#[tool(read_only, open_world, title = "Fetch URL", timeout = "30s")]
pub async fn fetch_url(
    /// The page's full address, beginning with `https://` or `http://`.
    url: String,
    http: SafeHttp,
) -> Result<String, ToolError> {
    let page = http.get(&url).await?;
    if !page.is_success() {
        return Err(ToolError::failed(format!(
            "the site answered with HTTP status {}",
            page.status
        )));
    }
    if let Some(kind) = page.content_type.as_deref()
        && !is_text(kind)
    {
        return Err(ToolError::failed(format!("the page is `{kind}`, not text")));
    }
    shown(&page)
}

fn is_text(kind: &str) -> bool {
    let kind = kind.to_ascii_lowercase();
    kind.starts_with("text/") || ["json", "xml", "javascript"].iter().any(|of| kind.contains(of))
}

fn shown(page: &FetchResponse) -> Result<String, ToolError> {
    let mut text = page.text();
    if page.truncated {
        write!(text, "\n[cut: the first {} bytes]", page.body.len())?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use toolwright::{Invoker, Registry, ToolCall};

    use super::*;

    /// Serves one request with `answer`, and returns the result of the tool.
    async fn fetched(answer: &'static str) -> Result<String, ToolError> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            stream.write_all(answer.as_bytes()).await.unwrap();
        });
        let http = SafeHttp::builder().allow_address(address).max_bytes(5);
        fetch_url(format!("http://{address}/"), http.build().unwrap()).await
    }

    #[tokio::test]
    async fn a_page_is_shown_whole_or_says_that_it_is_cut() {
        let page = fetched("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nhello").await;
        assert_eq!(page.unwrap(), "hello");
        let page = fetched("HTTP/1.1 200 OK\r\n\r\nhello, world").await;
        assert_eq!(page.unwrap(), "hello\n[cut: the first 5 bytes]");
    }

    #[tokio::test]
    async fn what_is_not_a_text_page_is_an_error() {
        let error = fetched("HTTP/1.1 404 Not Found\r\n\r\n").await.unwrap_err();
        assert_eq!(error.message(), "the site answered with HTTP status 404");
        let image = "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n";
        let error = fetched(image).await.unwrap_err();
        assert_eq!(error.message(), "the page is `image/png`, not text");
    }

    #[tokio::test]
    async fn the_model_cannot_reach_the_machine_it_runs_on() {
        let registry = Registry::new();
        registry.add(fetch_url::tool()).unwrap();
        let invoker = Invoker::new(&registry).unwrap();
        for url in ["http://localhost/", "http://169.254.169.254/", "file:///etc/passwd"] {
            let call = ToolCall::new("fetch_url", format!(r#"{{"url": "{url}"}}"#));
            let result = invoker.invoke(&call).await;
            assert!(result.is_error(), "{url}: {}", result.text());
        }
    }
}
