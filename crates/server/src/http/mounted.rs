//! The endpoints and parts of a server, each with the tools that it offers.

use std::sync::Arc;

use toolwright_core::ToolSelection;

use crate::endpoint::{Endpoint, EndpointDefaults, EndpointRuntime};
use crate::http;
use crate::http::mount::{Mount, PARTS, Part, PartRoutes, PartRow};
use crate::server::ServerBuildError;

/// What the routes are made of.
#[derive(Default)]
pub(crate) struct Mounted {
    /// The endpoints that have routes.
    pub(crate) endpoints: Vec<Arc<EndpointRuntime>>,
    /// The endpoints that have none, whose conversations parts run.
    pub(crate) unrouted: Vec<Arc<EndpointRuntime>>,
    /// The mounted parts, each with the endpoint whose conversations it may run.
    pub(crate) parts: Vec<(&'static PartRow, Option<Arc<EndpointRuntime>>)>,
}

/// The selections by which the mounted parts are bound.
pub(crate) struct PartSelections {
    mounts: Vec<Mount>,
    /// The selections of all endpoints, by which a part without one of its own is bound.
    endpoints: Vec<ToolSelection>,
    /// True if the assistant endpoint offers something else than the parts without a selection of their own.
    is_assistant_apart: bool,
    /// True if the assistant endpoint has routes.
    routes_assistant: bool,
}

impl PartSelections {
    /// Adds the parts that others need, and with `mounts_all` those that are missing; the error names a part that cannot have
    /// a selection.
    pub(crate) fn new(
        mut mounts: Vec<Mount>,
        mounts_all: bool,
        endpoints: &[Endpoint],
    ) -> Result<Self, ServerBuildError> {
        for Mount { part, selection } in mounts.clone() {
            let needed = part.needs().filter(|part| mounts.iter().all(|other| other.part != *part));
            match (part.row(), needed) {
                (_, Some(part)) => mounts.push(Mount { part, selection }),
                (Some(row), None) if !selection.is_empty() && !row.has_tools() => {
                    let reason = "it has no tools of its own: select those of an endpoint, or of `Mount::api()`";
                    return Err(ServerBuildError::Mount {
                        part: row.name,
                        reason: reason.to_owned(),
                    });
                }
                _ => {}
            }
        }
        if mounts_all {
            let is_missing = |mount: &Mount| mounts.iter().all(|other| other.part != mount.part);
            let missing: Vec<Mount> = Mount::all().filter(is_missing).collect();
            mounts.extend(missing);
        }
        let (assistants, others): (Vec<&Endpoint>, Vec<&Endpoint>) =
            endpoints.iter().partition(|endpoint| endpoint.is_assistant());
        let api = mounts.iter().find(|mount| mount.part == Part::Api);
        let has_api_selection = api.is_some_and(|mount| !mount.selection.is_empty());
        let is_selective = |endpoint: &&&Endpoint| !endpoint.selection.is_empty();
        Ok(Self {
            endpoints: endpoints.iter().map(|endpoint| endpoint.selection.clone()).collect(),
            is_assistant_apart: has_api_selection
                || assistants.iter().any(|it| is_selective(&it)) && !others.is_empty(),
            routes_assistant: api.is_some() || !assistants.is_empty(),
            mounts,
        })
    }

    /// The selection of a part, if it is mounted.
    pub(crate) fn of(&self, part: Part) -> Option<&ToolSelection> {
        let mount = self.mounts.iter().find(|mount| mount.part == part);
        mount.map(|mount| &mount.selection)
    }

    /// The selections that bind a part, besides its own.
    pub(crate) fn bounds(&self, own: &ToolSelection) -> &[ToolSelection] {
        match own.is_empty() {
            true => &self.endpoints,
            false => &[],
        }
    }

    /// Adds the assistant endpoint if a part needs it, and binds it.
    fn add_assistant(&self, mut endpoints: Vec<Endpoint>) -> Vec<Endpoint> {
        let needs_assistant = |row: &PartRow| {
            matches!(row.routes, PartRoutes::Assistant(_)) && self.of(row.part).is_some()
        };
        if !endpoints.iter().any(Endpoint::is_assistant) && PARTS.iter().any(needs_assistant) {
            endpoints.insert(0, Endpoint::assistant());
        }
        let api = self.of(Part::Api).cloned().unwrap_or_default();
        for endpoint in endpoints.iter_mut().filter(|endpoint| endpoint.is_assistant()) {
            if endpoint.selection.is_empty() {
                endpoint.bounds = self.bounds(&api).to_vec();
                endpoint.selection = api.clone();
            } else {
                endpoint.bounds.push(api.clone());
            }
        }
        endpoints
    }

    /// Returns true if a part runs the conversations of the assistant endpoint, and not of one with the part's own tools.
    fn shares_assistant(&self, part: Part) -> bool {
        let has_own = self.of(part).is_some_and(|selection| !selection.is_empty());
        part == Part::Api || !has_own && !self.is_assistant_apart
    }

    /// Builds the endpoints, and finds or builds the one of each part.
    pub(crate) fn build_endpoints(
        &self,
        endpoints: Vec<Endpoint>,
        defaults: &EndpointDefaults,
    ) -> Result<Mounted, ServerBuildError> {
        let endpoints = self.add_assistant(endpoints);
        let template = endpoints.iter().find(|it| it.is_assistant()).cloned();
        let mut mounted = Mounted::default();
        let mut assistant = None;
        for endpoint in endpoints {
            let (is_assistant, path) = (endpoint.is_assistant(), endpoint.path().to_owned());
            let runtime = Arc::new(endpoint.into_runtime(defaults)?);
            let is_reserved = !is_assistant && http::is_reserved(&path);
            let build_error = |reason: String| ServerBuildError::Endpoint { path, reason };
            if is_reserved {
                return Err(build_error("the server's own paths begin like this".to_owned()));
            }
            let mut others = mounted.endpoints.iter().map(|other| &other.template);
            if let Some(other) = others.find(|other| runtime.template.conflicts_with(other)) {
                let reason = format!("it cannot be distinguished from `{}`", other.path);
                return Err(build_error(reason));
            }
            if is_assistant {
                assistant = Some(Arc::clone(&runtime));
            }
            match is_assistant && !self.routes_assistant {
                true => mounted.unrouted.push(runtime),
                false => mounted.endpoints.push(runtime),
            }
        }
        for row in PARTS {
            let Some(selection) = self.of(row.part) else { continue };
            let endpoint = match (&row.routes, &template) {
                (PartRoutes::Assistant(_), Some(template)) if !self.shares_assistant(row.part) => {
                    let path = row.segments.first().copied().unwrap_or_default();
                    let mut own = template.clone().at(&format!("/{path}"));
                    own.bounds = self.bounds(selection).to_vec();
                    own.selection = selection.clone();
                    let own = Arc::new(own.into_runtime(defaults)?);
                    mounted.unrouted.push(Arc::clone(&own));
                    Some(own)
                }
                _ => assistant.clone(),
            };
            mounted.parts.push((row, endpoint));
        }
        Ok(mounted)
    }
}
