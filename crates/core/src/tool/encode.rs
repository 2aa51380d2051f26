//! What a tool returns in, a result out.
//!
//! `Result` is itself `Serialize`, so no trait can tell it from a plain value: generated code goes
//! through [`ReturnValue`], whose inherent method takes `Result` and whose trait method takes the rest.

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

/// What a tool may return.
///
/// Text (`String`, `&'static str`, `Box<str>`, `Arc<str>`, `Cow<'static, str>`), [`Content`] or a list
/// of either becomes content as it is; `()` becomes `"Done"`; `Some` of these is what it holds, and
/// `None` is `null`, as it is for any other type, so that nothing found is not read as done; [`Json`] adds structured content and an output schema; [`Updates`] streams; a [`ToolResult`] is
/// taken as it is; anything else that is `Serialize` becomes JSON text.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be what a tool returns",
    label = "cannot be encoded for the model",
    note = "for JSON text: write `#[derive(serde::Serialize)]` on the type that is returned",
    note = "for `Json<T>`: write `#[derive(serde::Serialize, toolwright::JsonSchema)]` on `T`",
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

    /// Turns the value into a result.
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

/// Structured content: the value as JSON, with an output schema from its type, and the same as text.
///
/// Deliberately not `Serialize`: it would then be plain JSON text.
#[derive(Clone, Debug, PartialEq)]
pub struct Json<T>(pub T);

/// A stream of preliminary values; the last one is the result.
///
/// # Examples
///
/// ```
/// use futures::stream::{self, Stream};
/// use toolwright::{Updates, tool};
///
/// /// Counts down.
/// #[tool]
/// fn count_down(from: u32) -> Updates<impl Stream<Item = String> + use<>> {
///     Updates(stream::iter((0..=from).rev().map(|n| n.to_string())))
/// }
/// ```
pub struct Updates<S>(pub S);

/// Takes `value` for a `U` if that is what it is; otherwise gives it back.
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
        /// Tries each type in turn, and `Some` of it, leaving `value` for the next one.
        macro_rules! as_it_is {
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
        let value = as_it_is!(value,
            String => text_result,
            &'static str => text_result,
            Cow<'static, str> => text_result,
            Box<str> => text_result,
            Arc<str> => |it: Arc<str>| text_result(&*it),
            () => |()| text_result("Done"),
            ToolResult => |result| result,
            Content => |it: Content| ToolResult::success(it),
            Vec<Content> => |it: Vec<Content>| ToolResult::success(it),
            Vec<String> => text_list_result,
            Vec<&'static str> => text_list_result,
            Vec<Cow<'static, str>> => text_list_result,
            Vec<Box<str>> => text_list_result,
            Vec<Arc<str>> => |it: Vec<Arc<str>>| text_list_result(it.iter().map(|it| &**it)),
        );
        Ok(ToolOutput::Complete(ToolResult::success(
            serde_json::to_string(&value)?,
        )))
    }
}

impl<T: Serialize + JsonSchema> Encode for Json<T> {
    fn schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        Some(generator.subschema_for::<T>())
    }

    fn encode(self, _: &Encoders) -> Result<ToolOutput, ToolError> {
        let text = serde_json::to_string(&self.0)?;
        let structured = StructuredContent::from_json_text(&text);
        Ok(ToolOutput::Complete(
            ToolResult::success(text).with_structured(structured),
        ))
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

/// Encoders that a registry holds for types of its own choosing, in place of plain JSON text.
#[derive(Clone, Default)]
pub struct Encoders(Arc<HashMap<TypeId, (i32, Encoder)>>);

type Encoder = Arc<dyn Fn(&dyn Any) -> Option<ToolResult> + Send + Sync>;

impl Encoders {
    /// Returns these and one more; for one type, the highest priority wins.
    pub(crate) fn with<T: 'static>(
        &self,
        priority: i32,
        encode: impl Fn(&T) -> ToolResult + Send + Sync + 'static,
    ) -> Self {
        let mut map = (*self.0).clone();
        let held = map.get(&TypeId::of::<T>()).map(|(held, _)| *held);
        if held.is_none_or(|held| held <= priority) {
            let erased = move |value: &dyn Any| value.downcast_ref::<T>().map(&encode);
            map.insert(TypeId::of::<T>(), (priority, Arc::new(erased)));
        }
        Self(Arc::new(map))
    }

    fn encode<T: 'static>(&self, value: T) -> Result<ToolResult, T> {
        if self.0.is_empty() {
            return Err(value);
        }
        let encoder = self.0.get(&TypeId::of::<T>());
        encoder.and_then(|(_, encode)| encode(&value)).ok_or(value)
    }
}

impl fmt::Debug for Encoders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Encoders({})", self.0.len())
    }
}

/// What a function returned, about to be told apart: a `Result`, or a plain value.
///
/// What is told apart comes in tuples of one: the field is where the compiler puts its complaint
/// about a type, and generated code puts the field where the type was written.
#[doc(hidden)]
pub struct ReturnValue<R>(pub R);

impl<T, E> ReturnValue<Result<T, E>> {
    /// Wins over [`Plain::split`] because inherent methods do.
    pub fn into_result(self) -> Result<(T,), (E,)> {
        match self.0 {
            Ok(value) => Ok((value,)),
            Err(error) => Err((error,)),
        }
    }
}

impl<T, E> ReturnValue<PhantomData<Result<T, E>>> {
    /// Wins over [`PlainValueType::ok`] because inherent methods do.
    pub fn ok_type(self) -> (PhantomData<T>,) {
        (PhantomData,)
    }
}

/// Every return type that is not a `Result`.
#[doc(hidden)]
pub trait PlainValue {
    /// What was returned.
    type Value;

    /// Takes the value as it is.
    fn into_result(self) -> Result<(Self::Value,), (ToolError,)>;
}

impl<R> PlainValue for ReturnValue<R> {
    type Value = R;

    fn into_result(self) -> Result<(R,), (ToolError,)> {
        Ok((self.0,))
    }
}

/// The name of every return type that is not a `Result`.
#[doc(hidden)]
pub trait PlainValueType<R> {
    /// Takes the type as it is.
    fn ok_type(self) -> (PhantomData<R>,);
}

impl<R> PlainValueType<R> for ReturnValue<PhantomData<R>> {
    fn ok_type(self) -> (PhantomData<R>,) {
        (PhantomData,)
    }
}

/// What a tool's error may be: anything `?` would turn into a [`ToolError`].
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

/// Names the type a function would return, even `impl Trait`, without calling it.
#[doc(hidden)]
pub fn return_type_of<R>(_: impl FnOnce() -> R) -> ReturnValue<PhantomData<R>> {
    ReturnValue(PhantomData)
}

/// Names the type an async function would return, without calling it.
#[doc(hidden)]
pub fn async_return_type_of<F: Future>(
    _: impl FnOnce() -> F,
) -> ReturnValue<PhantomData<F::Output>> {
    ReturnValue(PhantomData)
}
