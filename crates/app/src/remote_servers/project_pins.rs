//! The pins of a project: in a file, or in the shared state of its store.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::OnceCell;
use toolwright_core::{SharedState, SharedStateError};
use toolwright_mcp::{FilePins, Fingerprint, PinError, PinFuture, PinStatus, PinStore, SharedPins};

use crate::attach_options::{AttachOptions, PinLocation, ProgramLifetime};
use crate::project::Project;

/// The file of the accepted tool definitions, in the project directory.
const PIN_FILE: &str = "toolwright.pins";

/// Returns the pins of a project, which are opened when they are used.
pub(super) fn project_pins(project: &Project, options: &AttachOptions) -> Arc<dyn PinStore> {
    let is_one_shot = options.lifetime == ProgramLifetime::OneShot;
    let file = project.project_dir_or_current().join(PIN_FILE);
    let program = project.program_name().to_owned();
    match &options.pins {
        PinLocation::File if is_one_shot => Arc::new(FilePins::new(file).keep_drifted()),
        PinLocation::File => Arc::new(FilePins::new(file)),
        PinLocation::SharedState(state) => {
            Arc::new(shared_pins(Arc::clone(state), program, file, is_one_shot))
        }
        PinLocation::Store(url) => {
            let (url, opened) = (url.clone(), OnceCell::new());
            Arc::new(StorePins { url, program, file, is_one_shot, opened })
        }
    }
}

/// Pins in shared state; those of the file count for a server that has none yet.
fn shared_pins(
    state: Arc<dyn SharedState>,
    program: String,
    file: PathBuf,
    is_one_shot: bool,
) -> SharedPins {
    let pins = SharedPins::new(state, program).initial(FilePins::new(file));
    if is_one_shot { pins.keep_drifted() } else { pins }
}

/// Pins in the shared state of a store that is not open yet.
struct StorePins {
    url: String,
    program: String,
    /// The pins before the store was used for them.
    file: PathBuf,
    is_one_shot: bool,
    opened: OnceCell<SharedPins>,
}

impl StorePins {
    async fn open(&self) -> Result<&SharedPins, PinError> {
        let open = || async {
            let store = toolwright_store::open(&self.url).await;
            let store = store.map_err(SharedStateError::from)?;
            let (program, file) = (self.program.clone(), self.file.clone());
            Ok(shared_pins(store.shared_state(), program, file, self.is_one_shot))
        };
        self.opened.get_or_try_init(open).await
    }
}

impl PinStore for StorePins {
    fn check<'a>(
        &'a self,
        server: &'a str,
        definitions: &'a [(String, Fingerprint)],
    ) -> PinFuture<'a, Vec<PinStatus>> {
        Box::pin(async move { self.open().await?.check(server, definitions).await })
    }

    fn accept<'a>(&'a self, server: &'a str, definition: &'a str) -> PinFuture<'a, bool> {
        Box::pin(async move { self.open().await?.accept(server, definition).await })
    }

    fn drifted<'a>(&'a self, server: &'a str) -> PinFuture<'a, Vec<(String, Vec<String>)>> {
        Box::pin(async move { self.open().await?.drifted(server).await })
    }
}
