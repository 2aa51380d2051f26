//! What the macros make, and what they refuse.

mod ui;
