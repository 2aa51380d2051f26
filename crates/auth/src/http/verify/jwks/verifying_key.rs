//! JSON Web Keys, and the signatures that they verify.

use data_encoding::BASE64URL_NOPAD;
use ring::signature::{
    self, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};
use serde::Deserialize;
use serde_json::Value;

/// Further keys of a set are ignored.
const MAX_KEYS: usize = 64;

/// An asymmetric signature algorithm: neither `none` nor those with a shared secret are supported.
#[derive(Clone, Copy)]
pub(super) struct SignatureAlgorithm {
    name: &'static str,
    scheme: SignatureScheme,
}

#[derive(Clone, Copy)]
enum SignatureScheme {
    Rsa(&'static RsaParameters),
    /// The name of the curve, and the length of its keys in bytes.
    Curve(&'static str, usize, &'static dyn VerificationAlgorithm),
}

#[rustfmt::skip]
static ALGORITHMS: [SignatureAlgorithm; 10] = [
    SignatureAlgorithm { name: "RS256", scheme: SignatureScheme::Rsa(&signature::RSA_PKCS1_2048_8192_SHA256) },
    SignatureAlgorithm { name: "RS384", scheme: SignatureScheme::Rsa(&signature::RSA_PKCS1_2048_8192_SHA384) },
    SignatureAlgorithm { name: "RS512", scheme: SignatureScheme::Rsa(&signature::RSA_PKCS1_2048_8192_SHA512) },
    SignatureAlgorithm { name: "PS256", scheme: SignatureScheme::Rsa(&signature::RSA_PSS_2048_8192_SHA256) },
    SignatureAlgorithm { name: "PS384", scheme: SignatureScheme::Rsa(&signature::RSA_PSS_2048_8192_SHA384) },
    SignatureAlgorithm { name: "PS512", scheme: SignatureScheme::Rsa(&signature::RSA_PSS_2048_8192_SHA512) },
    SignatureAlgorithm { name: "ES256", scheme: SignatureScheme::Curve("P-256", 65, &signature::ECDSA_P256_SHA256_FIXED) },
    SignatureAlgorithm { name: "ES384", scheme: SignatureScheme::Curve("P-384", 97, &signature::ECDSA_P384_SHA384_FIXED) },
    SignatureAlgorithm { name: "EdDSA", scheme: SignatureScheme::Curve("Ed25519", 32, &signature::ED25519) },
    SignatureAlgorithm { name: "Ed25519", scheme: SignatureScheme::Curve("Ed25519", 32, &signature::ED25519) },
];

impl SignatureAlgorithm {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        ALGORITHMS.iter().find(|known| known.name == name).copied()
    }

    /// Returns the name as in the header of a token.
    pub(super) fn name(self) -> &'static str {
        self.name
    }
}

/// A published JSON Web Key (RFC 7517).
#[derive(Deserialize)]
struct JsonWebKey {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    key_ops: Option<Vec<String>>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

pub(super) struct VerifyingKey {
    kid: Option<String>,
    /// The only algorithm that it may be used for, if the issuer names one.
    alg: Option<String>,
    material: KeyMaterial,
}

enum KeyMaterial {
    Rsa(RsaPublicKeyComponents<Vec<u8>>),
    Curve(String, Vec<u8>),
}

/// The usable keys of an issuer.
pub(super) struct KeySet(Vec<VerifyingKey>);

impl KeySet {
    /// Parses a key set; keys of unknown kinds and for other uses are skipped.
    pub(super) fn parse(document: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Set {
            keys: Vec<Value>,
        }
        let set: Set = serde_json::from_slice(document)
            .map_err(|error| format!("that is no JSON Web Key Set: {error}"))?;
        let published = set.keys.into_iter().take(MAX_KEYS);
        let published = published.filter_map(|key| serde_json::from_value(key).ok());
        let keys: Vec<VerifyingKey> = published.filter_map(VerifyingKey::from_jwk).collect();
        match keys.is_empty() {
            true => {
                Err("the JSON Web Key Set has no key that signatures can be checked with"
                    .to_owned())
            }
            false => Ok(Self(keys)),
        }
    }

    /// Finds the key of this id, or without an id the only one for the algorithm; `None` if there are several.
    pub(super) fn find(
        &self,
        kid: Option<&str>,
        algorithm: SignatureAlgorithm,
    ) -> Option<&VerifyingKey> {
        let mut candidates = self.0.iter().filter(|key| {
            key.supports(algorithm) && kid.is_none_or(|kid| key.kid.as_deref() == Some(kid))
        });
        let first = candidates.next()?;
        candidates.next().is_none().then_some(first)
    }
}

impl VerifyingKey {
    fn from_jwk(key: JsonWebKey) -> Option<Self> {
        let verifies = |ops: &Vec<String>| ops.iter().any(|op| op == "verify");
        if key.purpose.is_some_and(|purpose| purpose != "sig")
            || !key.key_ops.as_ref().is_none_or(verifies)
        {
            return None;
        }
        let bytes = |text: Option<String>| BASE64URL_NOPAD.decode(text?.as_bytes()).ok();
        let material = match (&*key.kty, key.crv.as_deref()) {
            ("RSA", _) => {
                KeyMaterial::Rsa(RsaPublicKeyComponents { n: bytes(key.n)?, e: bytes(key.e)? })
            }
            ("EC", Some("P-256" | "P-384")) => {
                // 4 marks an uncompressed point: both coordinates follow.
                let point = [vec![4], bytes(key.x)?, bytes(key.y)?].concat();
                KeyMaterial::Curve(key.crv?, point)
            }
            ("OKP", Some("Ed25519")) => KeyMaterial::Curve(key.crv?, bytes(key.x)?),
            _ => return None,
        };
        Some(Self { kid: key.kid, alg: key.alg, material })
    }

    fn supports(&self, algorithm: SignatureAlgorithm) -> bool {
        let named = self.alg.as_deref().is_none_or(|alg| alg == algorithm.name);
        named
            && match (&self.material, algorithm.scheme) {
                (KeyMaterial::Rsa(_), SignatureScheme::Rsa(_)) => true,
                (KeyMaterial::Curve(curve, key), SignatureScheme::Curve(required, length, _)) => {
                    curve == required && key.len() == length
                }
                _ => false,
            }
    }

    /// Returns true if the signature of the message is this key's.
    pub(super) fn verifies(
        &self,
        algorithm: SignatureAlgorithm,
        message: &str,
        signature: &[u8],
    ) -> bool {
        let message = message.as_bytes();
        match (&self.material, algorithm.scheme) {
            (KeyMaterial::Rsa(key), SignatureScheme::Rsa(parameters)) => {
                key.verify(parameters, message, signature).is_ok()
            }
            (KeyMaterial::Curve(_, key), SignatureScheme::Curve(_, _, algorithm)) => {
                let key = UnparsedPublicKey::new(algorithm, key);
                key.verify(message, signature).is_ok()
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
