//! Raises the limit of open files: each connection is one.

/// Raises the soft limit to the hard limit; if that fails, the server accepts fewer connections at once.
pub(crate) fn raise_open_file_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut limit = getrlimit(Resource::Nofile);
        limit.current = limit.maximum;
        let _ = setrlimit(Resource::Nofile, limit);
    }
}
