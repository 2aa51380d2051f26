//! The core as its users meet it: tools in, calls in, results out.

#[path = "main/arguments.rs"]
mod arguments;
#[path = "main/batch.rs"]
mod batch;
#[path = "main/builder.rs"]
mod builder;
#[path = "main/containment.rs"]
mod containment;
#[path = "main/defaults.rs"]
mod defaults;
#[path = "main/errors.rs"]
mod errors;
#[path = "main/find.rs"]
mod find;
#[path = "main/output.rs"]
mod output;
#[path = "main/permission.rs"]
mod permission;
#[path = "main/properties.rs"]
mod properties;
#[path = "main/registry.rs"]
mod registry;
#[path = "main/scene.rs"]
mod scene;
#[path = "main/views.rs"]
mod views;
