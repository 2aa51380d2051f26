//! Parses the base URL of a vendor, which settings may abbreviate.

use std::net::{IpAddr, Ipv6Addr};

use toolwright_chat::{ModelError, ModelErrorKind};
use toolwright_core::schema::redact;
use url::Url;

use super::{ProtocolKind, Vendor};

/// The path of Azure's implementation of OpenAI's API.
const AZURE_PATH: &str = "/openai/v1";

/// Parses a base URL; Ollama's may lack scheme and port, Azure's its path.
pub(super) fn parse_base_url(vendor: &Vendor, text: &str) -> Result<Url, ModelError> {
    let completed = match vendor.protocol {
        ProtocolKind::Ollama => ollama_base_url(text),
        _ => text.trim().to_owned(),
    };
    let url = Url::parse(&completed).ok();
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let Some(mut url) = url else {
        let message = format!(
            "`{}` is no address of {}: write it as https://host/path",
            redact(text),
            vendor.name
        );
        return Err(ModelError::new(ModelErrorKind::BadRequest, message));
    };
    if vendor.base_url.is_none() {
        let path = url.path().trim_end_matches('/');
        let path = path.strip_suffix(AZURE_PATH).or(path.strip_suffix("/openai"));
        let path = path.unwrap_or(url.path().trim_end_matches('/'));
        url.set_path(&format!("{path}{AZURE_PATH}"));
    }
    Ok(url)
}

/// Completes `OLLAMA_HOST` as Ollama does: scheme, port and path are optional.
fn ollama_base_url(text: &str) -> String {
    let text = text.trim().trim_matches(['"', '\'']).trim();
    let (scheme, rest, port) = match text.split_once("://") {
        Some(("https", rest)) => ("https", rest, "443"),
        Some(("http", rest)) => ("http", rest, "80"),
        Some((other, rest)) => (other, rest, "11434"),
        // Ollama's cloud is available only over TLS.
        None if text == "ollama.com" => ("https", text, "443"),
        None => ("http", text, "11434"),
    };
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let as_ip = |host: &str| host.trim_matches(['[', ']']).parse::<IpAddr>().ok();
    let (host, port) = match host.rsplit_once(':') {
        // The colon may be part of an IPv6 address.
        Some((name, digits)) if as_ip(host).is_none() || name.ends_with(']') => {
            let is_valid = digits.parse::<u16>().is_ok();
            (name, if is_valid { digits } else { port })
        }
        _ => (host, port),
    };
    let host = match as_ip(host) {
        // A server can listen on all addresses, but a client has to connect to one.
        Some(IpAddr::V4(ip)) if ip.is_unspecified() => "127.0.0.1".to_owned(),
        Some(IpAddr::V6(ip)) if ip.is_unspecified() => format!("[{}]", Ipv6Addr::LOCALHOST),
        Some(IpAddr::V6(ip)) => format!("[{ip}]"),
        None if host.is_empty() => "127.0.0.1".to_owned(),
        _ => host.to_owned(),
    };
    format!("{scheme}://{host}:{port}/{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ollama_host_is_completed_as_ollama_does() {
        for (text, address) in [
            ("", "http://127.0.0.1:11434/"),
            ("0.0.0.0", "http://127.0.0.1:11434/"),
            ("0.0.0.0:8080", "http://127.0.0.1:8080/"),
            (":8080", "http://127.0.0.1:8080/"),
            ("[::]", "http://[::1]:11434/"),
            ("::1", "http://[::1]:11434/"),
            ("[::1]:99", "http://[::1]:99/"),
            ("gpu-box", "http://gpu-box:11434/"),
            ("gpu-box:1234", "http://gpu-box:1234/"),
            ("gpu-box:nonsense", "http://gpu-box:11434/"),
            ("gpu-box:70000", "http://gpu-box:11434/"),
            (" \"192.168.1.7:11434\" ", "http://192.168.1.7:11434/"),
            ("http://gpu-box", "http://gpu-box/"),
            ("https://gpu-box", "https://gpu-box/"),
            ("https://gpu-box:8443/ollama", "https://gpu-box:8443/ollama"),
            ("ollama.com", "https://ollama.com/"),
        ] {
            let vendor = Vendor::by_name("ollama").unwrap();
            assert_eq!(parse_base_url(vendor, text).unwrap().as_str(), address, "{text:?}");
        }
    }

    #[test]
    fn the_path_of_an_azure_endpoint_is_optional() {
        for text in [
            "https://mine.openai.azure.com",
            "https://mine.openai.azure.com/",
            "https://mine.openai.azure.com/openai",
            "https://mine.openai.azure.com/openai/v1/",
        ] {
            let address = parse_base_url(Vendor::by_name("azure-chat").unwrap(), text).unwrap();
            assert_eq!(address.as_str(), "https://mine.openai.azure.com/openai/v1", "{text}");
        }
    }

    #[test]
    fn an_invalid_base_url_is_an_error_without_secrets() {
        for text in ["", "openai", "ftp://host", "file:///etc", "mailto:a@b"] {
            let error = parse_base_url(Vendor::by_name("openai").unwrap(), text).unwrap_err();
            assert!(error.message.contains("is no address of openai"), "{error}");
        }
        let error =
            parse_base_url(Vendor::by_name("groq").unwrap(), "ftp://me:hunter2@host").unwrap_err();
        assert!(!error.message.contains("hunter2"), "{error}");
    }
}
