//! `tools list|search|show|schema|call`.

use std::process::ExitCode;
use std::sync::Arc;

use tokio::runtime::Runtime;
use toolwright_core::{Invoker, ParamInfo, RegisteredTool, Snapshot, ToolCall, ToolSpec};

use crate::attach_options::ProgramLifetime;
use crate::cli::args::ToolsCommand;
use crate::cli::cli_error::CliError;
use crate::cli::commands::check;
use crate::cli::program::{Program, print_warning};
use crate::cli::runtime;
use crate::cli::terminal::approval::TerminalApprover;
use crate::cli::terminal::elicitation::TerminalElicitor;
use crate::cli::terminal::input::StdinReader;
use crate::cli::terminal::{output, tool_output};
use crate::remote_servers::RemoteServers;
use crate::setup::StateMode;

pub(crate) mod arguments;
mod search;

pub(crate) fn execute(
    command: ToolsCommand,
    json: bool,
    mut program: Program,
) -> Result<ExitCode, CliError> {
    if let ToolsCommand::Search { question, file: Some(file), limit } = &command {
        return search::search_file(file, &question.join(" "), *limit, json);
    }
    if let ToolsCommand::Search { question, limit, .. } = &command {
        return search_tools(&question.join(" "), *limit, json, program);
    }
    let connect = match &command {
        ToolsCommand::List | ToolsCommand::Search { .. } => true,
        ToolsCommand::Show { name }
        | ToolsCommand::Schema { name, .. }
        | ToolsCommand::Call { name, .. } => program.registry.get(name).is_none(),
    };
    let mut state = StateMode::Declare;
    if let ToolsCommand::Call { yes, .. } = command {
        let approver = TerminalApprover { approve_all: yes, reader: Arc::new(StdinReader) };
        program.setup.configure_invoker(|invoker| invoker.approver(approver));
        state = StateMode::Open;
    }
    let elicitor = Arc::clone(&program.elicitor);
    let work = |runtime: &Runtime, servers: &RemoteServers, invoker: Invoker| {
        let snapshot = invoker.snapshot()?;
        let find = |name: &str| {
            let nearest = || snapshot.nearest(name, 1).into_iter().next();
            snapshot.get(name).ok_or_else(|| servers.unknown_name_error("tool", name, nearest()))
        };
        match &command {
            ToolsCommand::List => list_tools(&snapshot, json)?,
            // It has returned above.
            ToolsCommand::Search { .. } => {}
            ToolsCommand::Show { name } => show_tool(find(name)?, json)?,
            ToolsCommand::Schema { name, dialect } => {
                return print_schema(find(name)?.spec(), dialect.as_deref());
            }
            ToolsCommand::Call { name, arguments, .. } => {
                let entry = find(name)?;
                if matches!(command, ToolsCommand::Call { yes: true, .. }) {
                    preapprove(&elicitor, servers, entry.spec());
                }
                return call_tool(runtime, &invoker, entry.spec(), arguments, json);
            }
        }
        Ok(ExitCode::SUCCESS)
    };
    program.with_invoker(ProgramLifetime::OneShot, connect, state, work)
}

/// Searches the tools that are linked or attached.
fn search_tools(
    question: &str,
    limit: u16,
    json: bool,
    program: Program,
) -> Result<ExitCode, CliError> {
    program.with_servers(ProgramLifetime::OneShot, true, |program, runtime, servers| {
        servers.warnings().iter().for_each(|warning| print_warning(warning));
        let Program { setup, project, .. } = program;
        runtime.block_on(async {
            let embeddings = setup.tool_embeddings(project).await?;
            let invoker = setup.build_invoker(project, servers, StateMode::Declare).await?;
            let snapshot = invoker.snapshot()?;
            search::search_snapshot(&snapshot, embeddings.as_ref(), question, limit, json).await
        })?;
        Ok(ExitCode::SUCCESS)
    })
}

/// Makes the elicitor accept if the server of this tool asks whether the tool may run: `--yes` has approved the call.
fn preapprove(elicitor: &TerminalElicitor, servers: &RemoteServers, spec: &ToolSpec) {
    for status in servers.statuses().into_iter().flatten() {
        let mut items = status.items.into_iter();
        if let Some(item) = items.find(|it| !it.is_prompt && spec.name == *it.name) {
            let title = spec.title.clone().unwrap_or(item.remote_name);
            elicitor.preapprove(status.server, title);
        }
    }
}

/// Calls one tool and prints its result.
fn call_tool(
    runtime: &Runtime,
    invoker: &Invoker,
    spec: &ToolSpec,
    arguments: &[String],
    json: bool,
) -> Result<ExitCode, CliError> {
    let call = ToolCall::new(&spec.name, arguments::parse_arguments(arguments, spec)?);
    let result =
        runtime::run_until_ctrl_c(runtime, async |scope| invoker.invoke_in(scope, &call).await);
    tool_output::print_result(&result, json)?;
    Ok(if result.is_error() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn print_schema(spec: &ToolSpec, dialect: Option<&str>) -> Result<ExitCode, CliError> {
    let Some(dialect) = dialect.map(check::parse_dialect).transpose()? else {
        output::print_json(&spec.input)?;
        return Ok(ExitCode::SUCCESS);
    };
    let lowered = spec.input.lower(dialect);
    let lowered = lowered.map_err(|error| CliError::failure(error.to_string()))?;
    output::print_json(lowered.schema())?;
    for loss in lowered.losses() {
        output::print_stderr(&format!("{loss}\n"));
    }
    Ok(ExitCode::SUCCESS)
}

fn list_tools(snapshot: &Snapshot, json: bool) -> Result<(), CliError> {
    if json {
        let specs: Vec<&ToolSpec> = snapshot.iter().map(RegisteredTool::spec).collect();
        return output::print_json(&specs);
    }
    if snapshot.is_empty() {
        eprintln!(
            "no tools: add one with `#[tool]`, and name its crate in `main` (`use my_tools as _;`)"
        );
        return Ok(());
    }
    output::print_text(&format_list(snapshot.iter().map(RegisteredTool::spec)))
}

/// One line per name with the first line of its description, grouped by bundle.
pub(crate) fn format_list<'a>(specs: impl Iterator<Item = &'a ToolSpec> + Clone) -> String {
    let width = specs.clone().map(|spec| spec.name.as_str().len()).max();
    let width = width.unwrap_or_default();
    let mut text = String::new();
    let mut bundle = "";
    for spec in specs {
        if spec.bundle.as_ref() != bundle {
            bundle = spec.bundle.as_ref();
            text.push_str(&format!("{bundle}\n"));
        }
        let first = spec.description.lines().next().unwrap_or_default();
        text.push_str(&format!("  {:width$}  {first}\n", spec.name.as_str()));
    }
    text
}

fn show_tool(entry: &RegisteredTool, json: bool) -> Result<(), CliError> {
    let spec = entry.spec();
    if json {
        return output::print_json(spec);
    }
    let mut text = format!("{}", spec.name);
    if let Some(title) = &spec.title {
        text.push_str(&format!(" — {title}"));
    }
    text.push_str(&format!("\n{}\n\nbundle    {}\n", spec.description, spec.bundle));
    let hints = [
        (spec.hints.read_only, "read-only"),
        (spec.hints.destructive, "destructive"),
        (spec.hints.idempotent, "idempotent"),
        (spec.hints.open_world, "open-world"),
    ];
    let declared: Vec<String> = hints
        .iter()
        .filter_map(|(declared, name)| match declared {
            Some(true) => Some((*name).to_owned()),
            Some(false) => Some(format!("not {name}")),
            None => None,
        })
        .collect();
    if !declared.is_empty() {
        text.push_str(&format!("hints     {}\n", declared.join(", ")));
    }
    if entry.tool().needs_approval() {
        text.push_str("approval  asked before each call\n");
    }
    let output = if spec.output.is_some() { "structured" } else { "text" };
    text.push_str(&format!("result    {output}\n\n"));
    text.push_str(&format_parameters(spec));
    output::print_text(&text)
}

fn format_parameters(spec: &ToolSpec) -> String {
    let params = spec.params();
    if params.is_empty() {
        return format!("no parameters\n\ntools call {}\n", spec.name);
    }
    let rows = parameter_rows(&params, 1);
    let widest = |width: fn(&ParameterRow) -> usize| rows.iter().map(width).max().unwrap_or(0);
    let (names, kinds) = (widest(|row| row.name.len()), widest(|row| row.kind.len()));
    let mut text = String::from("parameters\n");
    for row in &rows {
        let ParameterRow { name, kind, details } = row;
        text.push_str(format!("{name:names$}  {kind:kinds$}  {details}").trim_end());
        text.push('\n');
    }
    let mut example = format!("tools call {}", spec.name);
    for param in params.iter().filter(|param| param.required) {
        let kind = param.json_type.to_uppercase().replace(' ', "_");
        example.push_str(&format!(" {}={kind}", param.name));
    }
    format!("{text}\n{example}\n")
}

/// One line of the tree of parameters.
struct ParameterRow {
    /// The name, indented by its depth.
    name: String,
    kind: String,
    details: String,
}

/// The parameters, each followed by its fields.
fn parameter_rows(params: &[ParamInfo], depth: usize) -> Vec<ParameterRow> {
    let mut rows = Vec::new();
    for param in params {
        let mut details = match (&param.default, param.required) {
            (Some(default), _) => format!("default {default}"),
            (None, true) => "required".to_owned(),
            (None, false) => "optional".to_owned(),
        };
        if !param.options.is_empty() {
            let options: Vec<String> = param.options.iter().map(ToString::to_string).collect();
            details.push_str(&format!(", one of {}", options.join(", ")));
        }
        let description = param.description.as_deref().unwrap_or_default().replace('\n', " ");
        rows.push(ParameterRow {
            name: format!("{:1$}{name}", "", 2 * depth, name = param.name),
            kind: param.json_type.clone(),
            details: format!("{details}  {description}"),
        });
        rows.extend(parameter_rows(&param.fields, depth + 1));
    }
    rows
}

#[cfg(test)]
mod tests {
    use toolwright_core::Tool;

    use super::*;

    #[test]
    fn nested_parameters_are_shown_as_a_tree() {
        let schema = serde_json::json!({
            "type": "object",
            "required": ["trip"],
            "properties": { "trip": {
                "type": "object",
                "description": "Where to go.",
                "required": ["to"],
                "properties": {
                    "to": { "type": "string" },
                    "class": { "type": "string", "enum": ["first", "second"], "default": "second", "description": "The class." }
                }
            } }
        });
        let tool = Tool::builder("book", "Books a trip.").schema(schema).unwrap();
        let tool = tool.run(|_, _| "").unwrap();
        assert_eq!(
            format_parameters(tool.spec()),
            "parameters\n\
             \x20 trip     object  required  Where to go.\n\
             \x20   to     string  required\n\
             \x20   class  string  default \"second\", one of \"first\", \"second\"  The class.\n\
             \ntools call book trip=OBJECT\n"
        );
    }
}
