//! Text for people and models: phrases, suggestions of names, masked secrets.

pub(crate) mod english;
pub(crate) mod nearest;
pub(crate) mod percent;
pub(crate) mod redact;
