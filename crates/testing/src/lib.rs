//! For tests: models that need no key, transports that need no network, and values generated from a schema.
//!
//! [`ScriptedModel`], [`FnModel`] and [`SampledCallsModel`] stand in for a model. [`Recorder`], [`Replayer`] and
//! [`CannedTransport`] stand in for the connection of a real one, and [`forbid_live_requests`] rejects every other.
//! [`Sampler`] generates values for a schema, valid or nearly so. [`UnreachableSharedState`] stands in for a database that is away.

mod models;
mod transport;
mod unreachable_shared_state;

pub use models::ModelReply;
pub use models::fn_model::FnModel;
pub use models::sampled_calls_model::SampledCallsModel;
pub use models::scripted_model::ScriptedModel;
pub use toolwright_models::forbid_live_requests;
pub use toolwright_sampler::{Sampler, SeededRng};
pub use transport::canned::{CannedResponse, CannedTransport};
pub use transport::recorder::Recorder;
pub use transport::recording::Recording;
pub use transport::replayer::Replayer;
pub use unreachable_shared_state::UnreachableSharedState;
