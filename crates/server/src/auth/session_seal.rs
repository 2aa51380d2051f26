//! Encrypts the credential of a session with a key that only its cookies open.

use data_encoding::HEXLOWER;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use sha2::{Digest as _, Sha256};
use toolwright_core::__internal::random_hex;

use crate::http::error_response::ErrorResponse;

/// The length of the id and of the secret, in bytes.
const ID_BYTES: usize = 16;
const SECRET_BYTES: usize = 32;

/// A key that encrypts what belongs to one session, or to one sign-in; cheap to clone, and never shown.
#[derive(Clone)]
pub(super) struct SealKey([u8; SECRET_BYTES]);

impl SealKey {
    /// Creates a random key.
    pub(super) fn generate() -> Result<Self, ErrorResponse> {
        let text = random_hex(SECRET_BYTES).map_err(ErrorResponse::unencodable)?;
        Self::from_hex(&text).ok_or_else(|| ErrorResponse::unencodable("a key cannot be made"))
    }

    /// Parses a key; `None` if it is malformed.
    pub(super) fn from_hex(text: &str) -> Option<Self> {
        let bytes = HEXLOWER.decode(text.as_bytes()).ok()?;
        Self::from_bytes(&bytes)
    }

    pub(super) fn to_hex(&self) -> String {
        HEXLOWER.encode(&self.0)
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Encrypts `plain`; the result is hexadecimal, and bound to `context`.
    pub(super) fn seal(&self, context: &str, plain: &[u8]) -> Option<String> {
        let nonce: [u8; NONCE_LEN] = HEXLOWER
            .decode(random_hex(NONCE_LEN).ok()?.as_bytes())
            .ok()
            .and_then(|bytes| bytes.try_into().ok())?;
        let mut sealed = plain.to_vec();
        self.cipher()?
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(context),
                &mut sealed,
            )
            .ok()?;
        Some(format!("{}{}", HEXLOWER.encode(&nonce), HEXLOWER.encode(&sealed)))
    }

    /// Decrypts; `None` if it belongs to another key or context, or was changed.
    pub(super) fn open(&self, context: &str, sealed: &str) -> Option<Vec<u8>> {
        let bytes = HEXLOWER.decode(sealed.as_bytes()).ok()?;
        let (nonce, sealed) = bytes.split_at_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut sealed = sealed.to_vec();
        let opened = self.cipher()?.open_in_place(nonce, Aad::from(context), &mut sealed);
        opened.ok().map(|plain| plain.to_vec())
    }

    /// Encrypts another key.
    pub(super) fn seal_key(&self, context: &str, key: &Self) -> Option<String> {
        self.seal(context, &key.0)
    }

    /// Decrypts another key.
    pub(super) fn open_key(&self, context: &str, sealed: &str) -> Option<Self> {
        Self::from_bytes(&self.open(context, sealed)?)
    }

    fn cipher(&self) -> Option<LessSafeKey> {
        UnboundKey::new(&CHACHA20_POLY1305, &self.0).ok().map(LessSafeKey::new)
    }
}

/// The value of a session cookie: `OWNER.ID.SECRET`.
///
/// The store knows the owner and digests of the id and the secret. The secret is in the cookie only: a copy of the store opens no
/// session and contains no credential in plain text.
pub(super) struct CookieValue<'a> {
    /// What the keys of the owner begin with.
    owner: &'a str,
    id: &'a str,
    secret: &'a str,
}

impl<'a> CookieValue<'a> {
    /// Parses the value of a cookie; `None` if it is malformed.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let (owner, rest) = text.split_once('.')?;
        let (id, secret) = rest.split_once('.')?;
        let is_hex = |text: &str, bytes: usize| {
            text.len() == 2 * bytes && text.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        let is_owner = owner == "operator" || is_hex(owner, Sha256::output_size());
        let is_valid = is_owner && is_hex(id, ID_BYTES) && is_hex(secret, SECRET_BYTES);
        is_valid.then_some(Self { owner, id, secret })
    }

    /// Creates the value of a new cookie; `prefix` is what the keys of the owner begin with.
    pub(super) fn generate(prefix: &str) -> Result<String, ErrorResponse> {
        let id = random_hex(ID_BYTES).map_err(ErrorResponse::unencodable)?;
        let owner = prefix.trim_end_matches('/');
        Ok(format!("{owner}.{id}.{}", SealKey::generate()?.to_hex()))
    }

    /// Creates another value for the same session.
    pub(super) fn with_new_secret(&self) -> Result<String, ErrorResponse> {
        let Self { owner, id, .. } = self;
        Ok(format!("{owner}.{id}.{}", SealKey::generate()?.to_hex()))
    }

    /// The key of the session in the shared state.
    pub(super) fn key(&self) -> String {
        format!("{}/{}", self.owner, HEXLOWER.encode(&Sha256::digest(self.id)))
    }

    /// A digest that only this cookie has.
    pub(super) fn digest(&self) -> [u8; 32] {
        Sha256::digest(format!("{}.{}.{}", self.owner, self.id, self.secret)).into()
    }

    /// The digest as text.
    pub(super) fn digest_text(&self) -> String {
        HEXLOWER.encode(&self.digest())
    }

    /// The key that is the secret; `None` if it is not in lower case.
    pub(super) fn seal_key(&self) -> Option<SealKey> {
        SealKey::from_hex(self.secret)
    }
}

#[cfg(test)]
mod tests {
    use toolwright_core::subject_key_prefix;

    use super::*;

    fn generate(subject: Option<&str>) -> String {
        CookieValue::generate(&subject_key_prefix(subject)).unwrap()
    }

    #[test]
    fn only_the_cookie_itself_opens_what_it_has_sealed() {
        let (ada, bob) = (generate(Some("ada")), generate(None));
        let (ada, bob) = (CookieValue::parse(&ada).unwrap(), CookieValue::parse(&bob).unwrap());
        let (key, other) = (ada.seal_key().unwrap(), bob.seal_key().unwrap());
        let context = ada.key();
        let sealed = key.seal(&context, b"Bearer abc").unwrap();
        assert_eq!(key.open(&context, &sealed).as_deref(), Some(&b"Bearer abc"[..]));
        assert_ne!(key.seal(&context, b"Bearer abc").unwrap(), sealed, "with another nonce");
        assert_eq!(other.open(&context, &sealed), None);
        assert_eq!(key.open(&bob.key(), &sealed), None);
        let changed = sealed.replace(&sealed[sealed.len() - 1..], "z");
        for sealed in ["", "00", &sealed[..sealed.len() - 2], &changed, &sealed.to_uppercase()] {
            assert_eq!(key.open(&context, sealed), None, "{sealed}");
        }
    }

    #[test]
    fn a_key_is_opened_by_the_key_that_has_sealed_it() {
        let [one, two, session] = [(); 3].map(|()| SealKey::generate().unwrap());
        let sealed = one.seal_key("s", &session).unwrap();
        assert_eq!(one.open_key("s", &sealed).unwrap().to_hex(), session.to_hex());
        assert!(two.open_key("s", &sealed).is_none() && one.open_key("t", &sealed).is_none());
    }

    #[test]
    fn the_key_reveals_neither_the_id_nor_the_secret() {
        let text = generate(Some("ada"));
        let cookie = CookieValue::parse(&text).unwrap();
        assert!(cookie.key().starts_with(&subject_key_prefix(Some("ada"))));
        assert!(!cookie.key().contains(cookie.id) && !cookie.key().contains(cookie.secret));
        let other = cookie.with_new_secret().unwrap();
        let other = CookieValue::parse(&other).unwrap();
        assert_eq!(other.key(), cookie.key());
        assert_ne!(other.digest(), cookie.digest());
    }

    #[test]
    fn a_malformed_cookie_is_none() {
        let text = generate(None);
        for text in
            ["", ".", "..", "operator..", &text[1..], &text[..text.len() - 1], &format!("{text}.")]
        {
            assert!(CookieValue::parse(text).is_none(), "{text}");
        }
    }
}
