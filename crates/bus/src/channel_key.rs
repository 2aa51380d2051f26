//! Hashes of the names of channels: short, and safe in subjects and payloads, whatever characters a name has.

use std::collections::HashSet;
use std::fmt;

use data_encoding::BASE64URL_NOPAD;
use sha2::{Digest as _, Sha256};

/// The first half of the SHA-256 digest of a channel's name, 22 characters as text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ChannelKey([u8; 16]);

impl ChannelKey {
    pub(crate) fn of(channel: &str) -> Self {
        let digest: [u8; 32] = Sha256::digest(channel).into();
        let mut key = [0; 16];
        key.iter_mut().zip(digest).for_each(|(byte, digest)| *byte = digest);
        Self(key)
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.len() != 22 {
            return None;
        }
        let mut key = [0; 16];
        BASE64URL_NOPAD.decode_mut(text.as_bytes(), &mut key).ok()?;
        Some(Self(key))
    }
}

impl fmt::Display for ChannelKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        BASE64URL_NOPAD.encode_display(&self.0).fmt(f)
    }
}

/// The number of channels that a [`ChannelSet`] distinguishes.
const MAX_CHANNELS: usize = 4096;

/// A set of channels that becomes the set of all channels when it grows too large.
#[derive(Default)]
pub(crate) struct ChannelSet {
    keys: HashSet<ChannelKey>,
    all: bool,
}

impl ChannelSet {
    pub(crate) fn insert(&mut self, key: ChannelKey) {
        if !self.all {
            self.keys.insert(key);
        }
        if self.keys.len() > MAX_CHANNELS {
            self.insert_all();
        }
    }

    pub(crate) fn insert_all(&mut self) {
        self.keys = HashSet::new();
        self.all = true;
    }

    #[cfg(feature = "nats")]
    pub(crate) fn extend(&mut self, other: Self) {
        if other.all {
            self.insert_all();
        }
        other.keys.into_iter().for_each(|key| self.insert(key));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.keys.is_empty() && !self.all
    }

    pub(crate) fn is_all(&self) -> bool {
        self.all
    }

    /// The channels; none if these are all.
    pub(crate) fn into_keys(self) -> impl Iterator<Item = ChannelKey> {
        self.keys.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_parsed_from_its_text() {
        let key = ChannelKey::of("a room with spaces, \u{1F980} and *.>");
        let text = key.to_string();
        assert_eq!(text.len(), 22);
        assert_eq!(ChannelKey::parse(&text), Some(key));
        assert_ne!(ChannelKey::of("a"), ChannelKey::of("b"));
        for text in ["", "short", &"*".repeat(22), &"\u{e9}".repeat(11)] {
            assert_eq!(ChannelKey::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_set_of_many_channels_is_the_set_of_all() {
        let mut set = ChannelSet::default();
        for n in 0..=MAX_CHANNELS {
            assert!(!set.is_all());
            set.insert(ChannelKey::of(&n.to_string()));
        }
        assert!(set.is_all() && !set.is_empty());
        assert_eq!(set.into_keys().count(), 0);
    }

    #[cfg(feature = "nats")]
    #[test]
    fn a_set_that_is_extended_by_all_channels_is_the_set_of_all() {
        let (mut set, mut all) = (ChannelSet::default(), ChannelSet::default());
        set.insert(ChannelKey::of("a"));
        all.insert_all();
        set.extend(all);
        assert!(set.is_all());
    }
}
