//! The keys that credentials are encrypted with: the newest encrypts, all of them decrypt.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use data_encoding::HEXLOWER_PERMISSIVE;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;
use toolwright_core::__internal::random_hex;
use toolwright_core::Secret;

use super::CredentialError;
use crate::lock::lock;

const KEY_BYTES: usize = 32;

/// How many keys a file has after a rotation: a program that runs may still encrypt with the last one.
const MAX_FILE_KEYS: usize = 2;

/// A larger file is rejected.
const MAX_FILE_BYTES: u64 = 64 << 10;

/// The version of the format of an encrypted text, its first word.
const FORMAT: &str = "v1";

/// The keys that credentials are encrypted with.
///
/// A key is 64 hexadecimal digits. The first encrypts, all of them decrypt, so that keys can be rotated.
pub struct CredentialKeys {
    source: KeySource,
    /// The keys that were read last.
    read: Mutex<Option<Vec<Key>>>,
}

enum KeySource {
    Fixed,
    File(PathBuf),
}

/// A key and its id: the first digits of its digest.
#[derive(Clone)]
struct Key {
    id: String,
    secret: Secret,
}

impl Key {
    fn parse(text: &str) -> Option<Self> {
        let bytes = HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok()?;
        (bytes.len() == KEY_BYTES).then(|| {
            let id = HEXLOWER_PERMISSIVE.encode(&Sha256::digest(&bytes)).chars().take(8).collect();
            Self { id, secret: Secret::new(text) }
        })
    }

    fn cipher(&self) -> Option<LessSafeKey> {
        let key = HEXLOWER_PERMISSIVE.decode(self.secret.expose().as_bytes()).ok()?;
        UnboundKey::new(&CHACHA20_POLY1305, &key).ok().map(LessSafeKey::new)
    }
}

impl CredentialKeys {
    /// Takes keys from a text, separated by commas or blanks, the newest first. `origin` names it in errors.
    ///
    /// # Errors
    ///
    /// When it has no key, or one that is malformed.
    pub fn from_text(text: &Secret, origin: &str) -> Result<Self, CredentialError> {
        let keys = parse_keys(text.expose(), origin)?;
        Ok(Self { source: KeySource::Fixed, read: Mutex::new(Some(keys)) })
    }

    /// Takes keys from a file, one in each line, the newest first. It is created with a random key when it is first needed; only
    /// its owner may read it.
    pub fn from_file(path: impl Into<PathBuf>) -> Self {
        Self { source: KeySource::File(path.into()), read: Mutex::default() }
    }

    /// Adds a new key to the file, and drops all but the last old one; does nothing if the keys are not from a file.
    ///
    /// Returns false if the keys are not from a file. What is stored has to be encrypted again afterwards.
    ///
    /// # Errors
    ///
    /// When the file cannot be read or written.
    pub fn rotate(&self) -> Result<bool, CredentialError> {
        let KeySource::File(path) = &self.source else {
            return Ok(false);
        };
        let mut keys = read_file(path)?.unwrap_or_default();
        keys.insert(0, new_key()?);
        keys.truncate(MAX_FILE_KEYS);
        write_file(path, &keys, true)?;
        *lock(&self.read) = Some(keys);
        Ok(true)
    }

    /// Encrypts a text that is bound to `context`: it cannot be decrypted with another.
    pub(super) fn seal(&self, context: &str, text: &str) -> Result<String, CredentialError> {
        // The file may have a newer key.
        let key = self.reload()?.into_iter().next();
        let key = key.ok_or_else(|| encryption("there is no key"))?;
        let nonce = random_hex(NONCE_LEN).map_err(|error| encryption(&error.to_string()))?;
        let bytes = HEXLOWER_PERMISSIVE.decode(nonce.as_bytes()).unwrap_or_default();
        let unique = Nonce::try_assume_unique_for_key(&bytes).map_err(|_| encryption("nonce"))?;
        let cipher = key.cipher().ok_or_else(|| encryption("key"))?;
        let mut sealed = text.as_bytes().to_vec();
        cipher
            .seal_in_place_append_tag(unique, Aad::from(context), &mut sealed)
            .map_err(|_| encryption("the text is too long"))?;
        Ok(format!("{FORMAT}.{}.{nonce}{}", key.id, HEXLOWER_PERMISSIVE.encode(&sealed)))
    }

    /// Decrypts a text.
    pub(super) fn open(
        &self,
        context: &str,
        server: &str,
        sealed: &str,
    ) -> Result<String, CredentialError> {
        let damaged = || CredentialError::Damaged { server: server.to_owned() };
        let rest = sealed.strip_prefix(FORMAT).and_then(|rest| rest.strip_prefix('.'));
        let (id, sealed) = rest.and_then(|rest| rest.split_once('.')).ok_or_else(damaged)?;
        let find = |keys: Vec<Key>| keys.into_iter().find(|key| key.id == id);
        let known = lock(&self.read).clone().and_then(find);
        let key = match known {
            Some(key) => Some(key),
            None => find(self.reload()?),
        };
        let unknown = || CredentialError::UnknownKey { server: server.to_owned() };
        let cipher = key.ok_or_else(unknown)?.cipher().ok_or_else(damaged)?;
        let bytes = HEXLOWER_PERMISSIVE.decode(sealed.as_bytes()).map_err(|_| damaged())?;
        let (nonce, sealed) = bytes.split_at_checked(NONCE_LEN).ok_or_else(damaged)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| damaged())?;
        let mut sealed = sealed.to_vec();
        let opened = cipher.open_in_place(nonce, Aad::from(context), &mut sealed);
        let opened = opened.map_err(|_| damaged())?;
        String::from_utf8(opened.to_vec()).map_err(|_| damaged())
    }

    /// Returns true if a text was encrypted with the newest key.
    pub(super) fn is_newest(&self, sealed: &str) -> Result<bool, CredentialError> {
        let newest = self.reload()?.into_iter().next();
        Ok(newest.is_some_and(|key| sealed.starts_with(&format!("{FORMAT}.{}.", key.id))))
    }

    /// Reads the keys of the file again, and creates it if it does not exist.
    fn reload(&self) -> Result<Vec<Key>, CredentialError> {
        let KeySource::File(path) = &self.source else {
            return Ok(lock(&self.read).clone().unwrap_or_default());
        };
        let keys = match read_file(path)? {
            Some(keys) => keys,
            None => {
                // Another process may create it at the same time: then its key counts.
                let keys = vec![new_key()?];
                match write_file(path, &keys, false) {
                    Ok(()) => keys,
                    Err(error) => read_file(path)?.ok_or(error)?,
                }
            }
        };
        *lock(&self.read) = Some(keys.clone());
        Ok(keys)
    }
}

fn encryption(reason: &str) -> CredentialError {
    CredentialError::Encryption(reason.to_owned())
}

fn new_key() -> Result<Key, CredentialError> {
    let text = random_hex(KEY_BYTES).map_err(|error| encryption(&error.to_string()))?;
    Key::parse(&text).ok_or_else(|| encryption("key"))
}

fn parse_keys(text: &str, origin: &str) -> Result<Vec<Key>, CredentialError> {
    let invalid = || CredentialError::InvalidKeys { origin: origin.to_owned() };
    let words = text.split(|c: char| c == ',' || c.is_whitespace()).filter(|key| !key.is_empty());
    let keys: Option<Vec<Key>> = words.map(Key::parse).collect();
    keys.filter(|keys| !keys.is_empty()).ok_or_else(invalid)
}

/// Reads a file of keys; `None` if it does not exist.
fn read_file(path: &Path) -> Result<Option<Vec<Key>>, CredentialError> {
    let failed = |source| CredentialError::KeyFile { path: path.to_owned(), source };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    if is_readable_by_others(&file).map_err(failed)? {
        return Err(CredentialError::ReadableByOthers { path: path.to_owned() });
    }
    let mut text = String::new();
    file.take(MAX_FILE_BYTES).read_to_string(&mut text).map_err(failed)?;
    parse_keys(&text, &path.display().to_string()).map(Some)
}

/// Writes a file of keys, which no process reads before it is complete; without `replace`, an existing one is an error.
fn write_file(path: &Path, keys: &[Key], replace: bool) -> Result<(), CredentialError> {
    let write = || {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        fs::create_dir_all(folder)?;
        // Only the owner may read a temporary file; that stays so under its new name.
        let mut file = NamedTempFile::new_in(folder)?;
        for key in keys {
            writeln!(file, "{}", key.secret.expose())?;
        }
        file.as_file().sync_all()?;
        match replace {
            true => file.persist(path)?,
            false => file.persist_noclobber(path)?,
        };
        Ok(())
    };
    write().map_err(|source| CredentialError::KeyFile { path: path.to_owned(), source })
}

#[cfg(unix)]
fn is_readable_by_others(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(file.metadata()?.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_readable_by_others(_: &File) -> io::Result<bool> {
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "11111111111111111111111111111111aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    const TWO: &str = "22222222222222222222222222222222bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

    fn keys(text: &str) -> CredentialKeys {
        CredentialKeys::from_text(&Secret::new(text), "TEST").unwrap()
    }

    #[test]
    fn what_is_encrypted_is_bound_to_its_key_and_its_place() {
        let one = keys(ONE);
        let sealed = one.seal("place", "hunter2").unwrap();
        assert!(!sealed.contains("hunter2") && !sealed.contains(ONE), "{sealed}");
        assert_ne!(sealed, one.seal("place", "hunter2").unwrap(), "each time with another nonce");
        assert_eq!(one.open("place", "wiki", &sealed).unwrap(), "hunter2");
        let moved = one.open("elsewhere", "wiki", &sealed).unwrap_err();
        assert!(matches!(moved, CredentialError::Damaged { .. }), "{moved}");
        let other = keys(TWO).open("place", "wiki", &sealed).unwrap_err();
        assert!(matches!(other, CredentialError::UnknownKey { .. }), "{other}");
        let end = if sealed.ends_with('0') { "1" } else { "0" };
        let changed = format!("{}{end}", &sealed[..sealed.len() - 1]);
        for text in
            ["", "v1", "v1.", "v2.a.b", &sealed[..20], &sealed[..sealed.len() - 2], &changed]
        {
            assert!(one.open("place", "wiki", text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_newest_key_encrypts_and_old_ones_decrypt() {
        let sealed = keys(ONE).seal("place", "hunter2").unwrap();
        let both = keys(&format!("{TWO}, {ONE}"));
        assert_eq!(both.open("place", "wiki", &sealed).unwrap(), "hunter2");
        assert!(!both.is_newest(&sealed).unwrap());
        let again = both.seal("place", "hunter2").unwrap();
        assert!(both.is_newest(&again).unwrap());
        assert_eq!(keys(TWO).open("place", "wiki", &again).unwrap(), "hunter2");
    }

    #[test]
    fn a_malformed_key_is_an_error_that_does_not_show_it() {
        for text in ["", " ,", "abc", &ONE[1..], &format!("{ONE},x")] {
            let error = CredentialKeys::from_text(&Secret::new(text), "MY_KEYS").err().unwrap();
            let error = error.to_string();
            assert!(error.contains("MY_KEYS") && !error.contains(&ONE[..20]), "{error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_created_for_its_owner_only_and_rotated() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data/credentials.key");
        let (keys, running) = (CredentialKeys::from_file(&path), CredentialKeys::from_file(&path));
        let sealed = keys.seal("place", "hunter2").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(running.open("place", "wiki", &sealed).unwrap(), "hunter2");
        assert!(keys.rotate().unwrap());
        // A program that runs reads the new key when it needs it.
        let sealed = keys.seal("place", "hunter3").unwrap();
        assert_eq!(running.open("place", "wiki", &sealed).unwrap(), "hunter3");
        assert!(keys.is_newest(&running.seal("place", "x").unwrap()).unwrap());
        for _ in 0..3 {
            assert!(keys.rotate().unwrap());
        }
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 2);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let error = keys.seal("place", "hunter2").unwrap_err();
        assert!(matches!(error, CredentialError::ReadableByOthers { .. }), "{error}");
    }
}
