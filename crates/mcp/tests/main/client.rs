//! The client against servers that are real, scripted, or hostile.

mod http_server;
mod scripted;
mod support;

mod calls;
mod hostile;
mod hostile_program;
mod lifecycle;
mod names;
mod npm;
mod real;
mod tasks;
mod trust;
