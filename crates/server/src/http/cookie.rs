//! Cookies: reads those of a request, and writes the `Set-Cookie` headers of a response.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;

use crate::http::error_response::ErrorResponse;

/// A cookie that a response sets. Scripts of a page cannot read it: it is `HttpOnly`.
pub(crate) struct SetCookie<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: &'a str,
    /// The path below which browsers send it.
    pub(crate) path: &'a str,
    pub(crate) same_site: SameSite,
    /// Zero removes the cookie.
    pub(crate) lifetime: Duration,
    /// Whether browsers send it over `https` only.
    pub(crate) is_secure: bool,
}

/// The requests from other sites that browsers send a cookie with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SameSite {
    /// None.
    Strict,
    /// Those that navigate to the server, such as the redirect of a provider.
    Lax,
}

impl SetCookie<'_> {
    /// The value of the `Set-Cookie` header, which logs leave out.
    ///
    /// # Errors
    ///
    /// When a part has a character that would begin another attribute, or that no header may have.
    pub(crate) fn to_header(&self) -> Result<HeaderValue, ErrorResponse> {
        let Self { name, value, path, same_site, lifetime, is_secure } = self;
        if [name, value, path].iter().any(|part| part.contains(';')) {
            return Err(ErrorResponse::unencodable("a cookie has no `;`"));
        }
        let (seconds, secure) = (lifetime.as_secs(), if *is_secure { "; Secure" } else { "" });
        let header = format!(
            "{name}={value}; HttpOnly; SameSite={same_site:?}; Path={path}; Max-Age={seconds}{secure}"
        );
        let mut header = HeaderValue::try_from(header).map_err(ErrorResponse::unencodable)?;
        header.set_sensitive(true);
        Ok(header)
    }
}

/// The value of a cookie of a request; `None` if it is missing or empty.
pub(crate) fn cookie_named<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let all = headers.get_all(header::COOKIE).iter();
    let mut pairs = all.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(';'));
    pairs.find_map(|pair| {
        let (key, value) = pair.trim().split_once('=')?;
        (key == name && !value.is_empty()).then_some(value)
    })
}

/// Appends `Set-Cookie` headers to a response.
pub(crate) fn append_cookies(
    response: &mut Response,
    cookies: impl IntoIterator<Item = HeaderValue>,
) {
    for cookie in cookies {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cookie<'a>(value: &'a str, path: &'a str) -> SetCookie<'a> {
        let (name, lifetime) = ("pass", Duration::from_secs(60));
        SetCookie { name, value, path, same_site: SameSite::Lax, lifetime, is_secure: true }
    }

    #[test]
    fn a_cookie_is_written_with_all_its_attributes_and_left_out_of_logs() {
        let header = cookie("1", "/ai").to_header().ok().unwrap();
        assert_eq!(header, "pass=1; HttpOnly; SameSite=Lax; Path=/ai; Max-Age=60; Secure");
        assert!(header.is_sensitive());
        let lasting = SetCookie { same_site: SameSite::Strict, ..cookie("", "/") };
        let removal = SetCookie { lifetime: Duration::ZERO, is_secure: false, ..lasting };
        let removal = removal.to_header().ok().unwrap();
        assert_eq!(removal, "pass=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0");
    }

    #[test]
    fn a_value_that_would_begin_another_attribute_or_header_is_not_written() {
        for (value, path) in [("1; Domain=evil.example", "/"), ("1", "/a;b"), ("1", "/\r\nx: y")] {
            assert!(cookie(value, path).to_header().is_err(), "{value} {path}");
        }
    }

    #[test]
    fn the_first_cookie_of_the_exact_name_that_has_a_value_is_read() {
        let mut headers = HeaderMap::new();
        for value in ["other=0;  passing=1;pass; pass=", "Pass=2; pass=a=b; pass=3"] {
            headers.append(header::COOKIE, HeaderValue::from_static(value));
        }
        assert_eq!(cookie_named(&headers, "pass"), Some("a=b"));
        assert_eq!(cookie_named(&headers, "passing"), Some("1"));
        assert_eq!(cookie_named(&headers, "missing"), None);
    }
}
