//! Tools behind guards: files in a directory, pages of the public internet.
//!
//! The guards are parameters that the model does not see. By default the jail is the project
//! directory; `.state(Jail::new(dir)?)` and `.state(SafeHttp::builder()…build()?)` choose others.

mod files;
mod web;

pub use files::{list_files, read_file};
pub use web::fetch_url;
