//! [`Param`]: a parameter of a tool is an argument that the model sends, or an extractor that it never sees.

use std::any::type_name;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{self, DeserializeOwned, Deserializer, MapAccess, Visitor};

use crate::call::context::{CallContext, InvokerContext};
use crate::error::ToolError;
use crate::tool::definition::{self, ParamVtable};

/// A parameter of a tool.
///
/// Every `Deserialize + JsonSchema` type is an argument. Any other type becomes an extractor by
/// implementing [`from_call`](Param::from_call): hidden from the model, taken from the call.
///
/// # Examples
///
/// ```
/// use toolwright::{CallContext, Param, ToolError};
///
/// struct Tenant(String);
///
/// impl Param for Tenant {
///     fn from_call(cx: &CallContext<'_>) -> Result<Self, ToolError> {
///         let caller = cx.caller().name().ok_or_else(|| ToolError::failed("sign in first"))?;
///         Ok(Tenant(caller.to_owned()))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a tool",
    label = "neither an argument the model can send nor an extractor",
    note = "for an argument: write `#[toolwright::tool_type]` on the type",
    note = "for an extractor that may be missing: write `toolwright::Maybe<T>`, not `Option<T>`",
    note = "for an extractor of your own: implement `toolwright::Param` for it"
)]
pub trait Param: Sized + Send + 'static {
    /// Whether the model sees it.
    #[doc(hidden)]
    const PUBLISHED: bool = false;

    /// The functions of the type that a definition uses.
    ///
    /// Generated code uses a parameter's type only through this trait, without bounds of its own: the
    /// compiler then reports a type that is not a parameter once, not at every mention.
    #[doc(hidden)]
    const VTABLE: ParamVtable = ParamVtable {
        published: Self::PUBLISHED,
        schema: Self::schema,
        optional: is_optional::<Self>,
        check: Self::check,
    };

    #[doc(hidden)]
    fn schema(_: &mut SchemaGenerator) -> Option<Schema> {
        None
    }

    #[doc(hidden)]
    fn from_json<'de, D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(de::Error::custom("not an argument"))
    }

    #[doc(hidden)]
    fn read_slot<'de, A: MapAccess<'de>>(
        slot: &mut Option<Self>,
        map: &mut A,
    ) -> Result<(), A::Error> {
        definition::read_slot(slot, map)
    }

    #[doc(hidden)]
    fn take_slot(
        slot: Option<Self>,
        name: &str,
        default: Option<fn() -> Self>,
        cx: &CallContext<'_>,
    ) -> Result<Self, ToolError> {
        definition::take_slot(slot, name, default, cx)
    }

    /// Extracts the parameter from the call.
    ///
    /// # Errors
    ///
    /// When the call does not have the value; the error becomes the call's result.
    fn from_call(cx: &CallContext<'_>) -> Result<Self, ToolError>;

    /// Checks, when an invoker is built, that its calls will have the value.
    ///
    /// # Errors
    ///
    /// When they will not: the message states what is missing and how to provide it.
    fn check(_: &InvokerContext) -> Result<(), ToolError> {
        Ok(())
    }
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + 'static> Param for T {
    const PUBLISHED: bool = true;

    fn schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        Some(generator.subschema_for::<T>())
    }

    fn from_json<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer)
    }

    /// Runs for an absent argument: `None` for an `Option`, an error for other types. serde decides, not the macro.
    fn from_call(_: &CallContext<'_>) -> Result<Self, ToolError> {
        T::deserialize(MissingArgument)
            .map_err(|_| ToolError::retry(format!("missing; expected {}", type_name::<T>())))
    }
}

/// Returns true if an argument of this type may be absent.
pub(crate) fn is_optional<T: Param>() -> bool {
    T::from_json(MissingArgument).is_ok()
}

/// Deserializes an absent argument by serde's rule for missing fields.
struct MissingArgument;

impl<'de> Deserializer<'de> for MissingArgument {
    type Error = de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(de::Error::custom("missing"))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_none()
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
