//! Whether Ollama runs, and which model it has: two short questions before anything else is known.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use serde_json::Value;

/// How long a connection may take: somebody waits for the prompt.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(150);

/// How much of an answer is read.
const MAX_RESPONSE_BYTES: u64 = 1 << 20;

/// Tells whether somebody listens at an address as `OLLAMA_HOST` writes it.
pub(super) fn is_running(address: &str) -> bool {
    host_and_port(address).is_some_and(|host| connect(&host).is_some())
}

/// Asks for the models it has, and returns the first: the one that changed last.
pub(super) fn first_model(address: &str) -> Option<String> {
    let host = host_and_port(address)?;
    let mut stream = connect(&host)?;
    stream.set_read_timeout(Some(4 * CONNECT_TIMEOUT)).ok()?;
    stream.set_write_timeout(Some(CONNECT_TIMEOUT)).ok()?;
    // The old protocol, so that the answer simply ends.
    let request = format!("GET /api/tags HTTP/1.0\r\nHost: {host}\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream
        .take(MAX_RESPONSE_BYTES)
        .read_to_string(&mut answer)
        .ok()?;
    let (_, body) = answer.split_once("\r\n\r\n")?;
    let tags: Value = serde_json::from_str(body).ok()?;
    let name = tags.get("models")?.get(0)?.get("name")?.as_str()?;
    Some(name.to_owned())
}

fn connect(host: &str) -> Option<TcpStream> {
    let addresses: Vec<SocketAddr> = host.to_socket_addrs().ok()?.collect();
    let mut addresses = addresses.iter();
    addresses.find_map(|address| TcpStream::connect_timeout(address, CONNECT_TIMEOUT).ok())
}

/// Host and port of an address in which scheme, port and path may be missing; nothing where it is encrypted.
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
        // A server listens everywhere, but who asks has to go somewhere.
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
    fn the_first_model_is_asked_for_and_nobody_there_is_no_model() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut asked = [0; 512];
            let read = stream.read(&mut asked).unwrap();
            let body = r#"{"models":[{"name":"qwen3:8b"},{"name":"llama3"}]}"#;
            write!(stream, "HTTP/1.0 200 OK\r\n\r\n{body}").unwrap();
            String::from_utf8_lossy(&asked[..read]).into_owned()
        });
        assert_eq!(first_model(&address).as_deref(), Some("qwen3:8b"));
        let asked = server.join().unwrap();
        assert!(asked.starts_with("GET /api/tags HTTP/1.0\r\n"), "{asked}");
        assert!(!is_running(&address));
        assert_eq!(first_model(&address), None);
    }
}
