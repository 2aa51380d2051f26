//! Room for many connections: each is an open file to the system.

/// Raises the number of files that the process may open as far as the system allows; if it does not, fewer are served at once.
pub(crate) fn raise_open_file_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut limit = getrlimit(Resource::Nofile);
        limit.current = limit.maximum;
        let _ = setrlimit(Resource::Nofile, limit);
    }
}
