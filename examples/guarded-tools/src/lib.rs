//! Tools that touch the world, each behind its guard: files in a jail, pages of the public internet.
//!
//! The guards are parameters that the model never sees. Without more ado the jail is the project
//! directory; `.state(Jail::new(dir)?)` and `.state(SafeHttp::builder()…build()?)` choose others.

mod files;
mod web;

pub use files::{list_files, read_file};
pub use web::fetch_url;
