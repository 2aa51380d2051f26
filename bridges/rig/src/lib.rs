//! Toolwright's tools in rig, and rig's in Toolwright.
