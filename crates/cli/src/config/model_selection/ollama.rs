//! Detects a running Ollama server and its first model, with blocking requests before a runtime exists.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use serde_json::Value;

/// Connect timeout; short, because the command does not start until the model is selected.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(150);

/// The response is truncated here.
const MAX_RESPONSE_BYTES: u64 = 1 << 20;

/// Returns true if a server listens at the address, in the format of `OLLAMA_HOST`.
pub(super) fn is_running(address: &str) -> bool {
    host_and_port(address).is_some_and(|host| connect(&host).is_some())
}

/// The first of the models that the server lists: the most recently changed one.
pub(super) fn first_model(address: &str) -> Option<String> {
    let host = host_and_port(address)?;
    let mut stream = connect(&host)?;
    stream.set_read_timeout(Some(4 * CONNECT_TIMEOUT)).ok()?;
    stream.set_write_timeout(Some(CONNECT_TIMEOUT)).ok()?;
    // HTTP/1.0: the server closes the connection after the response, and does not send chunks.
    let request = format!("GET /api/tags HTTP/1.0\r\nHost: {host}\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut response = String::new();
    stream.take(MAX_RESPONSE_BYTES).read_to_string(&mut response).ok()?;
    let (_, body) = response.split_once("\r\n\r\n")?;
    let tags: Value = serde_json::from_str(body).ok()?;
    let name = tags.get("models")?.get(0)?.get("name")?.as_str()?;
    Some(name.to_owned())
}

fn connect(host: &str) -> Option<TcpStream> {
    let addresses: Vec<SocketAddr> = host.to_socket_addrs().ok()?.collect();
    let mut addresses = addresses.iter();
    addresses.find_map(|address| TcpStream::connect_timeout(address, CONNECT_TIMEOUT).ok())
}

/// Host and port of an address whose scheme, port and path are optional; `None` for any scheme but `http`.
fn host_and_port(address: &str) -> Option<String> {
    let (port, rest) = match address.trim().split_once("://") {
        Some(("http", rest)) => ("80", rest),
        Some(_) => return None,
        None => ("11434", address.trim()),
    };
    let host = rest.split('/').next().unwrap_or_default();
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') || name.ends_with(']') => (name, port),
        _ => (host, port),
    };
    let name = match name {
        // Addresses to listen on; a client connects to loopback.
        "" | "0.0.0.0" => "127.0.0.1",
        "[::]" | "::" => "[::1]",
        other => other,
    };
    Some(format!("{name}:{port}"))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn an_address_may_leave_out_scheme_port_and_path() {
        for (address, host) in [
            ("http://127.0.0.1:11434", "127.0.0.1:11434"),
            ("0.0.0.0", "127.0.0.1:11434"),
            (":8080", "127.0.0.1:8080"),
            ("gpu-box", "gpu-box:11434"),
            ("http://gpu-box/ollama", "gpu-box:80"),
            ("[::1]:99", "[::1]:99"),
        ] {
            assert_eq!(host_and_port(address).as_deref(), Some(host), "{address}");
        }
        assert_eq!(host_and_port("https://ollama.com"), None);
    }

    #[test]
    fn the_first_listed_model_is_returned_and_none_without_a_server() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 512];
            let read = stream.read(&mut request).unwrap();
            let body = r#"{"models":[{"name":"qwen3:8b"},{"name":"llama3"}]}"#;
            write!(stream, "HTTP/1.0 200 OK\r\n\r\n{body}").unwrap();
            String::from_utf8_lossy(&request[..read]).into_owned()
        });
        assert_eq!(first_model(&address).as_deref(), Some("qwen3:8b"));
        let request = server.join().unwrap();
        assert!(request.starts_with("GET /api/tags HTTP/1.0\r\n"), "{request}");
        assert!(!is_running(&address));
        assert_eq!(first_model(&address), None);
    }
}
