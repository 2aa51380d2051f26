//! [`Encode`]: converts the return value of a tool into a result.
//!
//! `Result` is itself `Serialize`, so no trait distinguishes it from a plain value: generated code uses
//! [`ReturnValue`], which has an inherent method for `Result` and a trait method for other types.

use std::any::{Any, TypeId};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use futures::stream::{BoxStream, Stream, StreamExt as _};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

use crate::call::content::Content;
use crate::call::result::{StructuredContent, ToolResult};
use crate::error::ToolError;

/// A return type of a tool.
///
/// - Text (`String`, `&'static str`, `Box<str>`, `Arc<str>`, `Cow<'static, str>`), [`Content`] or a list of
///   either becomes content unchanged; `()` becomes `"Done"`.
/// - `Some` of these becomes its value; `None` of any type becomes `null`, so that "nothing found" does not
///   read as "done".
/// - [`Json`] adds structured content and an output schema; [`Updates`] is a stream.
/// - A [`ToolResult`] is returned unchanged.
/// - Any other `Serialize` type becomes JSON text.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be what a tool returns",
    label = "cannot be encoded for the model",
    note = "for JSON: write `#[toolwright::tool_type]` on the type that is returned, or on `T` of `Json<T>`",
    note = "or return text, `Content`, `Updates<stream>`, or a `Result` of these"
)]
pub trait Encode: Sized {
    #[doc(hidden)]
    fn schema(_: &mut SchemaGenerator) -> Option<Schema> {
        None
    }

    #[doc(hidden)]
    fn schema_of(_: PhantomData<Self>, generator: &mut SchemaGenerator) -> Option<Schema> {
        Self::schema(generator)
    }

    /// Converts the value into a result.
    ///
    /// # Errors
    ///
    /// When the value cannot be JSON.
    fn encode(self, encoders: &Encoders) -> Result<ToolOutput, ToolError>;
}

/// A result, or a stream of preliminary results of which the last is final.
pub enum ToolOutput {
    /// The result.
    Complete(ToolResult),
    /// Preliminary results; the last one is final.
    Stream(BoxStream<'static, Result<ToolResult, ToolError>>),
}

/// Structured content: the value as JSON and as text, with an output schema from its type.
///
/// Not `Serialize` itself: it would then be plain JSON text.
#[derive(Clone, Debug, PartialEq)]
pub struct Json<T>(pub T);

/// A stream of preliminary values; the last one is the result.
///
/// # Examples
///
/// ```
/// use toolwright::futures::stream::{self, Stream};
/// use toolwright::{Updates, tool};
///
/// /// Counts down.
/// #[tool]
/// fn count_down(from: u32) -> Updates<impl Stream<Item = String> + use<>> {
///     Updates(stream::iter((0..=from).rev().map(|n| n.to_string())))
/// }
/// ```
pub struct Updates<S>(pub S);

/// Casts `value` to `U` if that is its type; otherwise returns it in `Err`.
fn try_cast<T: 'static, U: 'static>(value: T) -> Result<U, T> {
    let mut slot = Some(value);
    let same = (&mut slot as &mut dyn Any).downcast_mut::<Option<U>>();
    match same.and_then(Option::take) {
        Some(cast) => Ok(cast),
        None => slot.map_or_else(|| unreachable!("taken only when cast"), Err),
    }
}

fn text_result(text: impl Into<String>) -> ToolResult {
    ToolResult::success(Content::text(text))
}

fn text_list_result(texts: impl IntoIterator<Item: Into<String>>) -> ToolResult {
    ToolResult::success(texts.into_iter().map(Content::text).collect::<Vec<_>>())
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + 'static> Encode for T {
    fn encode(self, encoders: &Encoders) -> Result<ToolOutput, ToolError> {
        let value = match encoders.encode(self) {
            Ok(result) => return Ok(ToolOutput::Complete(result)),
            Err(value) => value,
        };
        /// Tries to cast to each type and to `Option` of it.
        macro_rules! encode_as_is {
            ($value:ident, $($type:ty => $make:expr),* $(,)?) => {{
                $(let $value = match try_cast::<_, $type>($value) {
                    Ok(plain) => return Ok(ToolOutput::Complete($make(plain))),
                    Err(other) => other,
                };
                let $value = match try_cast::<_, Option<$type>>($value) {
                    Ok(Some(plain)) => return Ok(ToolOutput::Complete($make(plain))),
                    Ok(None) => return Ok(ToolOutput::Complete(ToolResult::success("null"))),
                    Err(other) => other,
                };)*
                $value
            }};
        }
        let value = encode_as_is!(value,
            String => text_result,
            &'static str => text_result,
            Cow<'static, str> => text_result,
            Box<str> => text_result,
            Arc<str> => |text: Arc<str>| text_result(&*text),
            () => |()| text_result("Done"),
            ToolResult => |result| result,
            Content => |item: Content| ToolResult::success(item),
            Vec<Content> => |items: Vec<Content>| ToolResult::success(items),
            Vec<String> => text_list_result,
            Vec<&'static str> => text_list_result,
            Vec<Cow<'static, str>> => text_list_result,
            Vec<Box<str>> => text_list_result,
            Vec<Arc<str>> => |texts: Vec<Arc<str>>| text_list_result(texts.iter().map(|text| &**text)),
        );
        Ok(ToolOutput::Complete(ToolResult::success(serde_json::to_string(&value)?)))
    }
}

impl<T: Serialize + JsonSchema> Encode for Json<T> {
    fn schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        Some(generator.subschema_for::<T>())
    }

    fn encode(self, _: &Encoders) -> Result<ToolOutput, ToolError> {
        let text = serde_json::to_string(&self.0)?;
        let structured = StructuredContent::from_json_text(&text);
        Ok(ToolOutput::Complete(ToolResult::success(text).with_structured(structured)))
    }
}

impl<S: Stream<Item: Encode> + Send + 'static> Encode for Updates<S> {
    fn schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        S::Item::schema(generator)
    }

    fn encode(self, encoders: &Encoders) -> Result<ToolOutput, ToolError> {
        let encoders = encoders.clone();
        let results = self.0.map(move |value| match value.encode(&encoders)? {
            ToolOutput::Complete(result) => Ok(result),
            ToolOutput::Stream(_) => {
                Err(ToolError::failed("a stream of streams has no last value"))
            }
        });
        Ok(ToolOutput::Stream(results.boxed()))
    }
}

/// A registry's encoders for types that would otherwise become JSON text; `None` if there are none, as in most.
#[derive(Clone, Default)]
pub struct Encoders(Option<Arc<EncoderMap>>);

type EncoderMap = HashMap<TypeId, (i32, Encoder)>;

type Encoder = Arc<dyn Fn(&dyn Any) -> Option<ToolResult> + Send + Sync>;

impl Encoders {
    /// Returns these encoders and one more; for one type, the highest priority wins.
    pub(crate) fn with<T: 'static>(
        &self,
        priority: i32,
        encode: impl Fn(&T) -> ToolResult + Send + Sync + 'static,
    ) -> Self {
        let mut map = self.0.as_deref().cloned().unwrap_or_default();
        let existing = map.get(&TypeId::of::<T>()).map(|(priority, _)| *priority);
        if existing.is_none_or(|existing| existing <= priority) {
            let erased = move |value: &dyn Any| value.downcast_ref::<T>().map(&encode);
            map.insert(TypeId::of::<T>(), (priority, Arc::new(erased)));
        }
        Self(Some(Arc::new(map)))
    }

    fn encode<T: 'static>(&self, value: T) -> Result<ToolResult, T> {
        let encoder = self.0.as_deref().and_then(|map| map.get(&TypeId::of::<T>()));
        encoder.and_then(|(_, encode)| encode(&value)).ok_or(value)
    }
}

impl fmt::Debug for Encoders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Encoders({})", self.0.as_ref().map_or(0, |map| map.len()))
    }
}

/// The return value of a function: a `Result` or a plain value.
///
/// The methods return tuples of one. The compiler reports an error about a type at the tuple's field, and
/// generated code gives that field the span of the type in the user's source.
#[doc(hidden)]
pub struct ReturnValue<R>(pub R);

impl<T, E> ReturnValue<Result<T, E>> {
    /// Inherent, so it has precedence over [`PlainValue::into_result`].
    pub fn into_result(self) -> Result<(T,), (E,)> {
        match self.0 {
            Ok(value) => Ok((value,)),
            Err(error) => Err((error,)),
        }
    }
}

impl<T, E> ReturnValue<PhantomData<Result<T, E>>> {
    /// Inherent, so it has precedence over [`PlainValueType::ok_type`].
    pub fn ok_type(self) -> (PhantomData<T>,) {
        (PhantomData,)
    }
}

/// Implemented for every return type; used for those that are not a `Result`, which has an inherent method.
#[doc(hidden)]
pub trait PlainValue {
    /// The type of the value.
    type Value;

    /// Returns the value.
    fn into_result(self) -> Result<(Self::Value,), (ToolError,)>;
}

impl<R> PlainValue for ReturnValue<R> {
    type Value = R;

    fn into_result(self) -> Result<(R,), (ToolError,)> {
        Ok((self.0,))
    }
}

/// The type of every return value that is not a `Result`.
#[doc(hidden)]
pub trait PlainValueType<R> {
    /// Returns the type.
    fn ok_type(self) -> (PhantomData<R>,);
}

impl<R> PlainValueType<R> for ReturnValue<PhantomData<R>> {
    fn ok_type(self) -> (PhantomData<R>,) {
        (PhantomData,)
    }
}

/// An error type of a tool: anything that `?` converts into a [`ToolError`].
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a tool",
    label = "cannot become a `ToolError`",
    note = "for a type of your own: implement `std::error::Error` for it",
    note = "for a boxed error: write `Box<dyn Error + Send + Sync>`",
    note = "or return `Result<_, toolwright::ToolError>` and use `?` inside"
)]
pub trait IntoToolError {
    /// Converts the error.
    fn into_tool_error(self) -> ToolError;
}

#[diagnostic::do_not_recommend]
impl<E: Into<ToolError>> IntoToolError for E {
    fn into_tool_error(self) -> ToolError {
        self.into()
    }
}

/// Names the return type of a function, even `impl Trait`, without calling it.
#[doc(hidden)]
pub fn return_type_of<R>(_: impl FnOnce() -> R) -> ReturnValue<PhantomData<R>> {
    ReturnValue(PhantomData)
}

/// Names the output type of an async function, without calling it.
#[doc(hidden)]
pub fn async_return_type_of<F: Future>(
    _: impl FnOnce() -> F,
) -> ReturnValue<PhantomData<F::Output>> {
    ReturnValue(PhantomData)
}
