//! One file per library: its model, built as its documentation shows, and its row.

#[cfg(feature = "async-openai")]
pub mod async_openai;
pub mod baseline;
#[cfg(feature = "genai")]
pub mod genai;
#[cfg(feature = "toolwright")]
pub mod toolwright;

/// What all of them ask.
const QUESTION: &str = "How is it there?";

/// The client that those share which do not bring their own: no proxy is asked for an address of this machine.
fn client() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().unwrap()
}
