//! Two nodes behind a balancer that sends each request to either of them.

mod answers;
mod hostile;
mod nodes;
mod outage;
mod sessions;
mod stateless;
mod streams;
mod tasks;
