//! Addresses that the security of tokens and keys depends on: validation and comparison.

use url::{Host, Url};

/// Parses an address whose traffic cannot be changed on the way: `https`, or `http` on this machine.
pub(crate) fn parse_secure_url(what: &str, text: &str) -> Result<Url, String> {
    let url = Url::parse(text)
        .map_err(|error| format!("{what} `{text}` is no address ({error}): write `https://…`"))?;
    let is_loopback = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    };
    match url.scheme() {
        "https" if url.has_host() => {}
        "http" if is_loopback => {}
        _ => {
            return Err(format!(
                "{what} `{text}`: write `https://…`; `http` is for this machine only"
            ));
        }
    }
    if url.fragment().is_some() || !url.username().is_empty() || url.password().is_some() {
        return Err(format!(
            "{what} `{text}`: leave out what follows `#`, and names and passwords"
        ));
    }
    Ok(url)
}

/// Returns the form in which equal addresses are equal texts: scheme and host in lower case, no `/` at the end.
pub(crate) fn canonical_text(url: &Url) -> String {
    let text = url.as_str();
    text.strip_suffix('/').unwrap_or(text).to_owned()
}

/// Inserts `/.well-known/{name}` between the host of an address and its path.
pub(crate) fn well_known_url(url: &Url, name: &str) -> Url {
    let path = url.path().trim_end_matches('/');
    let mut well_known = url.clone();
    well_known.set_path(&format!("/.well-known/{name}{path}"));
    well_known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_or_loopback_addresses_are_accepted() {
        for good in [
            "https://a.example/mcp",
            "https://A.example:8443",
            "http://127.0.0.1:9/mcp",
            "http://[::1]/",
            "http://localhost:80/mcp",
        ] {
            assert!(parse_secure_url("resource", good).is_ok(), "{good}");
        }
        for bad in [
            "a.example/mcp",
            "http://a.example/mcp",
            "http://localhost.evil.example/",
            "ftp://localhost/",
            "https://a.example/mcp#x",
            "https://ada:pw@a.example/",
            "",
        ] {
            assert!(parse_secure_url("resource", bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_well_known_name_stands_before_the_path() {
        let known = |text: &str| well_known_url(&Url::parse(text).unwrap(), "x").to_string();
        assert_eq!(known("https://a.example/mcp"), "https://a.example/.well-known/x/mcp");
        assert_eq!(known("https://a.example/"), "https://a.example/.well-known/x");
    }
}
