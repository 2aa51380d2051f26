//! [`Gateway`]: two tools in place of any number. `search_tools` finds tools, `call_tool` calls one of them by its name.

pub(crate) mod export;
pub(crate) mod found;

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use toolwright_core::schema::{Dialect, InputLimits, fold_name, repair};
use toolwright_core::{
    ApprovalPolicy, Args, Arguments, BoxFuture, CallScope, Caller, DefineError, ErrorPolicy,
    HandlerContext, Invoker, InvokerError, RegisteredTool, Registry, RegistryError, StrictMode,
    Tool, ToolCall, ToolError, ToolName, ToolResult,
};

use crate::embeddings::ToolEmbeddings;

/// The default and the maximum number of tools that a search returns.
const DEFAULT_LIMIT: usize = 5;
const MAX_LIMIT: usize = 20;

/// The bundle of the two tools.
const BUNDLE: &str = "tool_search";

const SEARCH_DESCRIPTION: &str = "Finds tools. There are many more tools than the ones listed here: search before you say that \
    something cannot be done. The result has";
const DEFINITIONS: &str = "the name, the description and the input schema of the tools that fit best. Call one of them with";
const LOADED_TOOLS: &str = "the tools that fit best, and then you can call them.";
const QUERY_DESCRIPTION: &str = "What the tool should do, in a few words.";
const LIMIT_DESCRIPTION: &str = "How many tools to return: 5 by default, at most 20.";
const NAME_DESCRIPTION: &str = "The name of the tool, exactly as the search returned it.";
const ARGUMENTS_DESCRIPTION: &str = "The arguments of the tool, which satisfy its input schema.";

/// The names of the two tools, which no other tool has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gateway {
    search: ToolName,
    call: ToolName,
    /// Whether the model calls found tools by their own names.
    direct_calls: bool,
}

/// A call as `call_tool` describes it in its arguments.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NamedCall {
    /// The tool, as the model names it.
    pub tool: ToolName,
    /// The arguments of the tool.
    pub arguments: Arguments,
}

/// A call of `search_tools`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolQuery {
    /// What the tool should do.
    pub text: String,
    /// How many tools to return.
    pub limit: usize,
    /// Whose tools are searched.
    pub caller: Caller,
    /// The embeddings of the invoker, if it has some.
    pub embeddings: Option<Arc<ToolEmbeddings>>,
}

impl ToolQuery {
    fn new(args: &Args, cx: &HandlerContext) -> Result<Self, ToolError> {
        let limit: Option<usize> = args.get("limit")?;
        Ok(Self {
            text: args.get("query")?,
            limit: limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT),
            caller: cx.caller().clone(),
            embeddings: cx.state().ok(),
        })
    }
}

impl Gateway {
    /// Chooses the names: `search_tools` and `call_tool`, or similar ones if a tool has one of these.
    pub fn new(is_taken: impl Fn(&str) -> bool) -> Self {
        let free_name = |name: &str| -> ToolName {
            let mut free = Cow::Borrowed(name);
            for number in 2.. {
                if !is_taken(&free) {
                    break;
                }
                free = Cow::Owned(format!("{name}_{number}"));
            }
            free.as_ref().into()
        };
        let (search, call) = (free_name("search_tools"), free_name("call_tool"));
        Self { search, call, direct_calls: false }
    }

    /// Describes the search for a model whose provider loads the tools that it finds: the model calls them by their own names.
    #[must_use]
    pub fn with_direct_calls(mut self) -> Self {
        self.direct_calls = true;
        self
    }

    /// Finds the two tools among those of a request.
    pub fn find(tools: &[RegisteredTool]) -> Option<Self> {
        let specs = tools.iter().map(RegisteredTool::spec);
        let mut gateway = specs.filter(|spec| &*spec.bundle == BUNDLE);
        let (search, call) = (gateway.next()?, gateway.next()?);
        let (search, call) = (search.name.clone(), call.name.clone());
        Some(Self { search, call, direct_calls: false })
    }

    /// Returns the name of the tool that searches.
    pub fn search_name(&self) -> &str {
        self.search.as_str()
    }

    /// Returns the name of the tool that calls others.
    pub fn call_name(&self) -> &str {
        self.call.as_str()
    }

    /// Returns true if a name is that of the tool that searches, perhaps in other letter case or punctuation.
    pub fn is_search(&self, name: &str) -> bool {
        fold_name(name) == fold_name(self.search.as_str())
    }

    /// Returns true if a name is that of the tool that calls others, perhaps in other letter case or punctuation.
    pub fn is_call(&self, name: &str) -> bool {
        fold_name(name) == fold_name(self.call.as_str())
    }

    /// Returns true if a name is that of one of the two tools.
    pub fn contains(&self, name: &str) -> bool {
        self.is_search(name) || self.is_call(name)
    }

    /// Makes the invoker of the two tools, with the state and options of another one.
    ///
    /// `search` returns the result of a query. `call_tool` runs nothing itself: each of its calls is converted
    /// to a call of the tool that it [names](Self::named_call), before it is invoked. `reject` gets the name in a call that was
    /// not converted, and returns the reason.
    ///
    /// # Errors
    ///
    /// As [`Invoker::with_view`].
    pub fn invoker(
        &self,
        invoker: &Invoker,
        search: impl Fn(ToolQuery) -> BoxFuture<'static, ToolResult> + Send + Sync + 'static,
        reject: impl Fn(&str) -> ToolResult + Send + Sync + 'static,
    ) -> Result<Invoker, InvokerError> {
        let tools = self.tools(search, reject);
        let registry = Registry::of(tools.map_err(RegistryError::from)?)?;
        let invoker = invoker.with_view(|_| registry.all())?;
        // The settings for all tools are not meant for them.
        let invoker = invoker.with_policy(|_, policy| {
            policy.approval = ApprovalPolicy::Never;
            policy.errors = ErrorPolicy::Message;
        })?;
        Ok(invoker.with_fixed_snapshot()?)
    }

    /// Makes the two tools, first the one that searches; see [`invoker`](Self::invoker).
    ///
    /// # Errors
    ///
    /// Never with the names that [`new`](Self::new) chooses.
    pub fn tools(
        &self,
        search: impl Fn(ToolQuery) -> BoxFuture<'static, ToolResult> + Send + Sync + 'static,
        reject: impl Fn(&str) -> ToolResult + Send + Sync + 'static,
    ) -> Result<Vec<Tool>, DefineError> {
        [self.search_tool(search), self.call_tool(reject)].into_iter().collect()
    }

    fn search_tool(
        &self,
        search: impl Fn(ToolQuery) -> BoxFuture<'static, ToolResult> + Send + Sync + 'static,
    ) -> Result<Tool, DefineError> {
        let description = match self.direct_calls {
            true => format!("{SEARCH_DESCRIPTION} {LOADED_TOOLS}"),
            false => format!("{SEARCH_DESCRIPTION} {DEFINITIONS} `{}`.", self.call),
        };
        Tool::builder(self.search.as_str(), description)
            .title("Search tools")
            .bundle(BUNDLE)
            .param::<String>("query", QUERY_DESCRIPTION)
            .param::<Option<usize>>("limit", LIMIT_DESCRIPTION)
            .read_only(true)
            .idempotent(true)
            .approval(ApprovalPolicy::Never)
            .errors(ErrorPolicy::Message)
            .run_async(move |args: Args, cx| {
                let query = ToolQuery::new(&args, &cx).map(&search);
                async move {
                    match query {
                        Ok(result) => Ok(result.await),
                        Err(error) => Err(error),
                    }
                }
            })
    }

    fn call_tool(
        &self,
        reject: impl Fn(&str) -> ToolResult + Send + Sync + 'static,
    ) -> Result<Tool, DefineError> {
        let description = format!("Calls a tool that `{}` has found.", self.search);
        Tool::builder(self.call.as_str(), description)
            .title("Call a tool")
            .bundle(BUNDLE)
            .param::<String>("name", NAME_DESCRIPTION)
            .param_of_type("arguments", ARGUMENTS_DESCRIPTION, "object", false)
            .strict(StrictMode::Off)
            // It runs nothing: the tool that it names has a policy of its own.
            .approval(ApprovalPolicy::Never)
            .errors(ErrorPolicy::Message)
            .run(move |args: Args, _| {
                let name: String = args.get("name")?;
                Ok::<_, ToolError>(reject(&name))
            })
    }

    /// Returns the call that a call of `call_tool` describes; `None` for a call of another tool, and if its arguments are not
    /// a name and an object: invoking it returns the error.
    pub fn named_call(&self, call: &ToolCall) -> Option<NamedCall> {
        if !self.is_call(call.name.as_str()) {
            return None;
        }
        let text = call.arguments.as_str();
        parse_named_call(text).or_else(|| {
            let repaired = repair(text, &InputLimits::default()).ok()?;
            parse_named_call(&repaired.text)
        })
    }

    /// Converts a call of `call_tool` to a call of the tool that it names, in the form of that tool's own schema; `None` for a call
    /// of another tool, and if the scope's caller may not use the tool that it names.
    ///
    /// # Errors
    ///
    /// As [`Invoker::list`].
    pub fn resolve_call(
        &self,
        call: &ToolCall,
        tools: &Invoker,
        scope: &CallScope,
        dialect: Dialect,
    ) -> Result<Option<ToolCall>, RegistryError> {
        let Some(named) = self.named_call(call) else { return Ok(None) };
        let visible = tools.list(scope)?;
        Ok(tool_named(&visible, named.tool.as_str()).map(|tool| {
            let arguments = tool.lift_deferred_arguments(dialect, named.arguments);
            ToolCall::new(&tool.spec().name, arguments).with_id(&call.id)
        }))
    }

    /// Returns the result of a call that names no tool of the caller's.
    pub fn unknown_tool(name: &str) -> ToolResult {
        let name: String = name.chars().take(64).collect();
        ToolResult::failure(format!(
            "there is no tool `{name}`: search for tools, and then call one by its name in the result"
        ))
    }
}

/// Returns the tool with exactly this name, else the only one that differs just in letter case and punctuation.
pub fn tool_named<'a>(tools: &'a [RegisteredTool], name: &str) -> Option<&'a RegisteredTool> {
    let exact = tools.iter().find(|tool| tool.spec().name == name);
    exact.or_else(|| {
        let folded = fold_name(name);
        let is_similar = |tool: &&RegisteredTool| fold_name(tool.spec().name.as_str()) == folded;
        let mut similar = tools.iter().filter(is_similar);
        similar.next().filter(|_| similar.next().is_none())
    })
}

fn parse_named_call(text: &str) -> Option<NamedCall> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct CallArguments<'a> {
        name: String,
        #[serde(borrow, default)]
        arguments: Option<&'a RawValue>,
    }
    let CallArguments { name, arguments } = serde_json::from_str(text).ok()?;
    let arguments = match arguments.map(RawValue::get) {
        None | Some("null") => "{}".into(),
        // Some models write the object as text.
        Some(text) if text.starts_with('"') => serde_json::from_str::<String>(text).ok()?.into(),
        Some(text) => text.into(),
    };
    Some(NamedCall { tool: name.trim().into(), arguments })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(arguments: &str) -> Option<(String, String)> {
        let call = ToolCall::new("call_tool", arguments);
        let named = Gateway::new(|_| false).named_call(&call)?;
        Some((named.tool.to_string(), named.arguments.to_string()))
    }

    #[test]
    fn the_arguments_of_the_named_tool_keep_their_text() {
        let named = named(r#"{"name": "pay", "arguments": {"amount": 1.50, "to":"Ada"}}"#).unwrap();
        assert_eq!(named, ("pay".to_owned(), r#"{"amount": 1.50, "to":"Ada"}"#.to_owned()));
    }

    #[test]
    fn missing_arguments_are_an_empty_object_and_text_is_read_as_one() {
        for (arguments, expected) in [
            (r#"{"name": "pay"}"#, "{}"),
            (r#"{"name": "pay", "arguments": null}"#, "{}"),
            (r#"{"name": "pay", "arguments": "{\"n\": 1}"}"#, r#"{"n": 1}"#),
            (r#"{"name": "pay", "arguments": {"n": 1},}"#, r#"{"n":1}"#),
        ] {
            assert_eq!(named(arguments), Some(("pay".to_owned(), expected.to_owned())));
        }
    }

    #[test]
    fn what_is_cut_off_or_has_other_fields_names_no_call() {
        for arguments in [
            r#"{"name": "pay", "arguments": {"n": 1"#,
            r#"{"name": "pay", "n": 1}"#,
            r#"{"arguments": {}}"#,
            r#"{"name": 7}"#,
            "",
        ] {
            assert_eq!(named(arguments), None, "{arguments}");
        }
    }

    #[test]
    fn names_that_a_tool_has_are_avoided() {
        let gateway = Gateway::new(|name| name == "call_tool" || name == "call_tool_2");
        assert!(gateway.is_search("search_tools") && gateway.is_call("call_tool_3"));
        assert!(!gateway.contains("call_tool"));
    }
}
