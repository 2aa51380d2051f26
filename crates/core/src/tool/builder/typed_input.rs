//! [`TypedInput`]: the input schema of a type, generated once per process.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use toolwright_schema::{Schema, close_objects, is_enforced_by_type};

use super::schema::SchemaDefaults;
use crate::tool::input_schema::{ParamDefaults, add_definitions};

/// What all tools with the same type of input share.
pub(super) struct TypedInput {
    pub(super) schema: Schema,
    /// Whether deserializing the type enforces the whole schema.
    pub(super) types_enforce_schema: bool,
    pub(super) defaults: ParamDefaults,
}

static BY_TYPE: LazyLock<Mutex<HashMap<TypeId, Arc<TypedInput>>>> = LazyLock::new(Mutex::default);

impl TypedInput {
    pub(super) fn of<T: JsonSchema + 'static>() -> Arc<Self> {
        let known = || BY_TYPE.lock().unwrap_or_else(PoisonError::into_inner);
        let id = TypeId::of::<T>();
        if let Some(input) = known().get(&id) {
            return Arc::clone(input);
        }
        // Without the lock: `T` may be a type that defines tools to generate its schema.
        let input = Arc::new(Self::generate::<T>());
        Arc::clone(known().entry(id).or_insert(input))
    }

    fn generate<T: JsonSchema>() -> Self {
        let mut generator = SchemaSettings::draft2020_12().into_generator();
        let mut schema = T::json_schema(&mut generator).to_value();
        add_definitions(&mut schema, &mut generator);
        if let Some(schema) = schema.as_object_mut() {
            // The type's docs are for programmers; the tool has a title and a description of its own.
            schema.shift_remove("title");
            schema.shift_remove("description");
        }
        // Before `close_objects`: strict deserialization of arguments closes structs by itself.
        let types_enforce_schema = is_enforced_by_type(&schema);
        close_objects(&mut schema);
        let schema = Schema::trusted(schema);
        // A default that its own schema rejects is the type's affair: the type fills it in.
        let SchemaDefaults { defaults, .. } = SchemaDefaults::of_schema(&schema);
        Self { schema, types_enforce_schema, defaults: defaults.into() }
    }
}
