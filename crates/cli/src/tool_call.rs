//! `tools call`: arguments from the command line in, a printed result out.

use std::convert::Infallible;
use std::io::{self, IsTerminal as _, Read as _};
use std::process::ExitCode;

use serde_json::{Map, Value};
use tokio::runtime::Runtime;
use toolwright_core::schema::coerce;
use toolwright_core::{
    Arguments, CallEvent, CallScope, CancellationToken, Content, Invoker, ToolCall, ToolResult,
    ToolSpec,
};

use crate::cli_error::CliError;
use crate::output;

/// How much is read from stdin before it is certainly too much.
const MAX_STDIN_BYTES: u64 = 16 << 20;

/// Calls one tool and prints what comes of it.
pub(crate) fn call_tool(
    runtime: &Runtime,
    invoker: &Invoker,
    spec: &ToolSpec,
    arguments: &[String],
    json: bool,
) -> Result<ExitCode, CliError> {
    let call = ToolCall::new(&spec.name, parse_arguments(arguments, spec)?);
    let result = run_until_ctrl_c(runtime, async |scope| invoker.invoke_in(scope, &call).await);
    print_result(&result, json)?;
    Ok(if result.is_error() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// What tools and models run on.
pub(crate) fn build_runtime() -> Result<Runtime, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    runtime.map_err(|error| CliError::from_error(&error))
}

/// Waits for `work`, which Ctrl-C cancels.
pub(crate) fn run_until_ctrl_c<T>(runtime: &Runtime, work: impl AsyncFnOnce(&CallScope) -> T) -> T {
    runtime.block_on(async {
        let interrupted = CancellationToken::new();
        let scope = CallScope::new()
            .cancel_on(interrupted.clone())
            .on_event(print_event);
        let watch = async {
            // Without a signal handler, Ctrl-C ends the process: that is fine too.
            if tokio::signal::ctrl_c().await.is_ok() {
                interrupted.cancel();
            }
            std::future::pending::<Infallible>().await
        };
        tokio::select! {
            done = work(&scope) => done,
            never = watch => match never {},
        }
    })
}

/// Reads `key=value …`, one JSON text, or stdin.
pub(crate) fn parse_arguments(
    arguments: &[String],
    spec: &ToolSpec,
) -> Result<Arguments, CliError> {
    match arguments {
        [only] if only == "-" => {
            if io::stdin().is_terminal() {
                eprintln!("reading JSON from stdin; end it with Ctrl-D");
            }
            let mut text = String::new();
            let read = io::stdin().take(MAX_STDIN_BYTES).read_to_string(&mut text);
            read.map_err(|error| CliError::usage(format!("stdin: {error}")))?;
            Ok(Arguments::from(text))
        }
        [only] if only.trim_start().starts_with('{') => Ok(Arguments::from(only.as_str())),
        pairs => parse_pairs(pairs, spec),
    }
}

/// Makes an object of `key=value` pairs, each value of the type its parameter has.
fn parse_pairs(pairs: &[String], spec: &ToolSpec) -> Result<Arguments, CliError> {
    let mut object = Map::new();
    for pair in pairs {
        let Some((key, value)) = pair.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            return Err(CliError::usage(format!(
                "`{pair}` is no argument: write key=value, one JSON object, or `-` for stdin"
            )));
        };
        let value = Value::from(value);
        match object.get_mut(key) {
            None => drop(object.insert(key.to_owned(), value)),
            Some(Value::Array(values)) => values.push(value),
            Some(first) => *first = Value::Array(vec![first.take(), value]),
        }
    }
    let mut arguments = Value::Object(object);
    coerce(&mut arguments, &spec.input);
    Ok(Arguments::from(arguments))
}

fn print_event(event: CallEvent) {
    match event {
        CallEvent::Progress {
            done,
            total,
            message,
            ..
        } => output::print_stderr(&format!(
            "{}\n",
            format_progress(done, total, message.as_deref())
        )),
        CallEvent::Update { result, .. } => {
            output::print_stderr(&format!("[....] {}\n", result.text()))
        }
        _ => {}
    }
}

/// How far a tool is, in one line.
pub(crate) fn format_progress(
    done: Option<f64>,
    total: Option<f64>,
    message: Option<&str>,
) -> String {
    let message = message.unwrap_or_default();
    match (done, total) {
        (Some(done), Some(total)) if total > 0.0 => {
            format!("[{:3.0}%] {message}", 100.0 * done / total)
        }
        _ => format!("[....] {message}"),
    }
}

/// Prints a result as people or programs read it.
pub(crate) fn print_result(result: &ToolResult, json: bool) -> Result<(), CliError> {
    if json {
        return output::print_json(result);
    }
    for note in &result.notes {
        output::print_stderr(&format!("note: {note}\n"));
    }
    let text = content_to_text(&result.content);
    if result.is_error() {
        output::print_stderr(&format!("error: {text}"));
        return Ok(());
    }
    output::print_text(&text)
}

/// Content as people read it, each item on lines of its own.
pub(crate) fn content_to_text(content: &[Content]) -> String {
    let mut text = String::new();
    for item in content {
        match item {
            Content::Text { text: plain } => text.push_str(plain),
            Content::Image { mime_type, .. } | Content::Audio { mime_type, .. } => {
                text.push_str(&format!("[{mime_type}, {} bytes of base64]", item.len()));
            }
            Content::Resource { resource } => match &resource.text {
                Some(plain) => text.push_str(plain),
                None => text.push_str(&format!("[{}]", resource.uri)),
            },
            Content::Link { uri, name, .. } => text.push_str(&format!("{name}: {uri}")),
            other => text.push_str(&format!("[{} bytes]", other.len())),
        }
        text.push('\n');
    }
    text
}
