//! What trusted proxies say about a request: where its client is, and how it reaches the server.
//!
//! Any client can send the headers of a proxy. They are read only if the peer of the connection is a proxy that the operator
//! trusts.

use std::net::{IpAddr, SocketAddr};

use axum::extract::ConnectInfo;
use axum::http::{Extensions, HeaderMap, header};

use crate::http::error::AuthBuildError;

/// The addresses and networks of the proxies that are trusted.
#[derive(Debug, Default)]
pub(super) struct TrustedProxies(Vec<Network>);

#[derive(Debug)]
struct Network {
    address: IpAddr,
    /// The number of leading bits that its addresses have in common.
    prefix: u32,
}

/// The client of a request, as far as it is known.
///
/// It is the peer of the connection or, if that is a trusted proxy, what the proxy says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ForwardedClient<'r> {
    /// Its address; `None` if the server was not told the peer address.
    pub address: Option<IpAddr>,
    /// The scheme by which it has sent the request: `Forwarded` or `X-Forwarded-Proto`.
    pub scheme: Option<&'r str>,
    /// The path that a proxy has removed: `X-Forwarded-Prefix`, unchecked.
    pub prefix: Option<&'r str>,
}

impl Network {
    /// Parses `10.0.0.0/8`, or one address.
    fn parse(text: &str) -> Option<Self> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().ok()?;
        let bits = if address.is_ipv4() { 32 } else { 128 };
        let prefix = prefix.map_or(Some(bits), |prefix| prefix.parse().ok())?;
        (prefix <= bits).then_some(Self { address, prefix })
    }

    fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                let differs = own.to_bits() ^ other.to_bits();
                differs.checked_shr(32 - self.prefix).unwrap_or(0) == 0
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                let differs = own.to_bits() ^ other.to_bits();
                differs.checked_shr(128 - self.prefix).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

impl TrustedProxies {
    pub(super) fn parse(texts: &[String]) -> Result<Self, AuthBuildError> {
        let parse = |text: &String| {
            Network::parse(text.trim())
                .ok_or_else(|| AuthBuildError::TrustedProxy { text: text.clone() })
        };
        Ok(Self(texts.iter().map(parse).collect::<Result<_, _>>()?))
    }

    fn contains(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(address.to_canonical()))
    }

    /// Returns the client of a request with these headers and extensions, which have the peer address.
    pub(super) fn client_of<'r>(
        &self,
        headers: &'r HeaderMap,
        extensions: &Extensions,
    ) -> ForwardedClient<'r> {
        let peer: Option<&ConnectInfo<SocketAddr>> = extensions.get();
        let Some(peer) = peer.map(|ConnectInfo(peer)| peer.ip().to_canonical()) else {
            return ForwardedClient::default();
        };
        if !self.contains(peer) {
            return ForwardedClient { address: Some(peer), ..ForwardedClient::default() };
        }
        let elements: Vec<&str> = list(headers, header::FORWARDED.as_str()).collect();
        let by_forwarded = elements.iter().map(|element| parameter(element, "for"));
        let by_forwarded = self.first_untrusted(peer, by_forwarded);
        let by_x = list(headers, "x-forwarded-for").map(Some);
        let by_x = self.first_untrusted(peer, by_x.collect::<Vec<_>>().into_iter());
        let scheme = elements.first().and_then(|element| parameter(element, "proto"));
        let prefix = headers.get("x-forwarded-prefix").and_then(|value| value.to_str().ok());
        ForwardedClient {
            // A proxy sets one kind of header, and passes what a client sends in the other: who sends both is not believed.
            address: Some(agreed(by_forwarded, by_x).unwrap_or(peer)),
            scheme: agreed(scheme, list(headers, "x-forwarded-proto").next()),
            prefix: prefix.map(str::trim),
        }
    }

    /// Follows the addresses that proxies have appended, from the last to the first that no trusted proxy has; `None` if there are
    /// none.
    fn first_untrusted<'h>(
        &self,
        peer: IpAddr,
        hops: impl DoubleEndedIterator<Item = Option<&'h str>>,
    ) -> Option<IpAddr> {
        let mut client = None;
        for hop in hops.rev() {
            let proxy = client.unwrap_or(peer);
            if !self.contains(proxy) {
                break;
            }
            let Some(address) = hop.and_then(parse_hop) else {
                // A proxy that hides or garbles its client is the last one that is known.
                return Some(proxy);
            };
            client = Some(address);
        }
        client
    }
}

/// Returns what two headers say, unless they contradict each other.
fn agreed<T: PartialEq>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => (one == other).then_some(one),
        (one, other) => one.or(other),
    }
}

/// The elements of a header that is a list, in order.
fn list<'h>(headers: &'h HeaderMap, name: &str) -> impl Iterator<Item = &'h str> {
    let values = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim).filter(|element| !element.is_empty())
}

/// The value of a parameter of an element of `Forwarded` (RFC 7239), without quotes.
fn parameter<'h>(element: &'h str, name: &str) -> Option<&'h str> {
    let mut pairs = element.split(';').filter_map(|pair| pair.trim().split_once('='));
    let (_, value) = pairs.find(|(known, _)| known.trim().eq_ignore_ascii_case(name))?;
    Some(value.trim().trim_matches('"'))
}

/// Parses `192.0.2.7`, `192.0.2.7:4000`, `2001:db8::7`, `[2001:db8::7]` or `[2001:db8::7]:4000`.
fn parse_hop(text: &str) -> Option<IpAddr> {
    let address = text.parse().or_else(|_| text.parse().map(|hop: SocketAddr| hop.ip()));
    let address = address.or_else(|_| text.trim_matches(['[', ']']).parse());
    address.ok().map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn client(peer: &str, headers: &[(&'static str, &str)]) -> (String, Option<String>) {
        let trusted = ["10.0.0.0/8", "2001:db8:1::/48", "127.0.0.1"].map(str::to_owned);
        let trusted = TrustedProxies::parse(&trusted).unwrap();
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_str(value).unwrap());
        }
        let mut extensions = Extensions::new();
        extensions.insert(ConnectInfo(SocketAddr::new(peer.parse().unwrap(), 4000)));
        let client = trusted.client_of(&map, &extensions);
        (client.address.unwrap().to_string(), client.scheme.map(str::to_owned))
    }

    fn address(peer: &str, headers: &[(&'static str, &str)]) -> String {
        client(peer, headers).0
    }

    #[test]
    fn only_a_trusted_proxy_says_who_the_client_is() {
        let said = &[("x-forwarded-for", "192.0.2.7")][..];
        for peer in ["10.1.2.3", "::ffff:10.1.2.3", "127.0.0.1", "2001:db8:1::9"] {
            assert_eq!(address(peer, said), "192.0.2.7", "{peer}");
        }
        for peer in ["11.0.0.1", "127.0.0.2", "2001:db8:2::9", "192.0.2.1"] {
            assert_eq!(address(peer, said), peer);
            let (_, scheme) = client(peer, &[("x-forwarded-proto", "https")]);
            assert_eq!(scheme, None);
        }
        assert_eq!(address("10.0.0.1", &[]), "10.0.0.1");
    }

    #[test]
    fn what_a_client_prepends_is_not_believed() {
        for (list, expected) in [
            ("1.1.1.1, 192.0.2.7", "192.0.2.7"),
            ("1.1.1.1, 192.0.2.7, 10.0.0.2", "192.0.2.7"),
            ("192.0.2.7, unknown, 10.0.0.2", "10.0.0.2"),
            ("192.0.2.7, nonsense", "10.0.0.1"),
            ("10.0.0.3, 10.0.0.2", "10.0.0.3"),
            ("[2001:db8::7]:9", "2001:db8::7"),
            ("2001:db8::7", "2001:db8::7"),
            ("192.0.2.7:9", "192.0.2.7"),
        ] {
            assert_eq!(address("10.0.0.1", &[("x-forwarded-for", list)]), expected, "{list}");
        }
        let two = [("x-forwarded-for", "1.1.1.1"), ("x-forwarded-for", "192.0.2.7")];
        assert_eq!(address("10.0.0.1", &two), "192.0.2.7");
    }

    #[test]
    fn the_standard_header_says_the_same() {
        for element in [
            "for=192.0.2.7;proto=https",
            "FOR=\"192.0.2.7:4711\" ; proto=https;by=203.0.113.4",
            "for=1.1.1.1;proto=https, for=192.0.2.7",
        ] {
            let forwarded = [("forwarded", element)];
            let expected = ("192.0.2.7".to_owned(), Some("https".to_owned()));
            assert_eq!(client("10.0.0.1", &forwarded), expected, "{element}");
        }
        let ipv6 = [("forwarded", "for=\"[2001:db8::7]:4711\"")];
        assert_eq!(address("10.0.0.1", &ipv6), "2001:db8::7");
        let hidden = [("forwarded", "for=_hidden")];
        assert_eq!(address("10.0.0.1", &hidden), "10.0.0.1");
    }

    #[test]
    fn headers_that_contradict_each_other_say_nothing() {
        let forged = [("forwarded", "for=1.1.1.1;proto=http"), ("x-forwarded-for", "192.0.2.7")];
        assert_eq!(address("10.0.0.1", &forged), "10.0.0.1");
        let both = [("forwarded", "for=192.0.2.7"), ("x-forwarded-for", "192.0.2.7")];
        assert_eq!(address("10.0.0.1", &both), "192.0.2.7");
        let forged = [("forwarded", "proto=http"), ("x-forwarded-proto", "https")];
        assert_eq!(client("10.0.0.1", &forged).1, None);
    }

    #[test]
    fn what_is_no_address_and_no_network_is_an_error() {
        for bad in ["proxy.example", "10.0.0.0/33", "10.0.0.0/", "::/129", "", "10.0.0.0/-1"] {
            let error = TrustedProxies::parse(&[bad.to_owned()]).unwrap_err().to_string();
            assert!(error.contains("10.0.0.0/8"), "{bad}: {error}");
        }
        let all = TrustedProxies::parse(&["0.0.0.0/0".to_owned(), "::/0".to_owned()]).unwrap();
        for address in ["192.0.2.7", "2001:db8::7"] {
            assert!(all.contains(address.parse().unwrap()));
        }
    }
}
