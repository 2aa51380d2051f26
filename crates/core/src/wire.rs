//! Tool definitions on the wire: those of other software in, ours out as each API wants them.

mod read;

mod name;
mod output;
mod plan;
mod write;

pub use name::wire_names;
pub use output::{needs_wrap, wrapped};
pub use plan::{Candidate, LeftOut, Plan, Planned, Planner};
pub use read::{Definition, Refused, Shape, UnknownShape, Unreadable, read};

#[cfg(test)]
mod tests;
