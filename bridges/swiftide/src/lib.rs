//! Toolwright's tools in swiftide, and swiftide's in Toolwright.
