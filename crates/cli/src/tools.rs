//! `tools list|show|schema|call`.

use std::process::ExitCode;
use std::sync::Arc;

use tokio::runtime::Runtime;
use toolwright_core::{Invoker, InvokerBuilder, RegisteredTool, Registry, Snapshot, ToolSpec};

use crate::approve::{Stdin, Terminal};
use crate::args::Tools;
use crate::attach::{self, Servers, Stay};
use crate::config::Surroundings;
use crate::failure::Failure;
use crate::{call, check, print};

pub(crate) fn execute(
    command: Tools,
    json: bool,
    surroundings: &Surroundings,
    registry: &Registry,
    setup: impl FnOnce(InvokerBuilder) -> InvokerBuilder,
) -> Result<ExitCode, Failure> {
    let needed = match &command {
        Tools::List => true,
        Tools::Show { name } | Tools::Schema { name, .. } | Tools::Call { name, .. } => {
            registry.get(name).is_none()
        }
    };
    let work = |runtime: &Runtime, servers: &Servers| {
        servers.warn();
        let mut builder = setup(surroundings.apply(Invoker::builder(registry)));
        if let Tools::Call { yes, .. } = &command {
            let lines = Arc::new(Stdin);
            builder = builder.approver(Terminal { yes: *yes, lines });
        }
        let invoker = servers.build(builder, surroundings.config())?;
        let snapshot = invoker
            .snapshot()
            .map_err(|error| Failure::finding(&error))?;
        let find = |name| find(&snapshot, name, &servers.missing());
        match &command {
            Tools::List => list(&snapshot, json)?,
            Tools::Show { name } => show(find(name)?, json)?,
            Tools::Schema { name, dialect } => {
                return schema(find(name)?.spec(), dialect.as_deref());
            }
            Tools::Call {
                name,
                arguments,
                yes,
            } => {
                let entry = find(name)?;
                if *yes {
                    servers.approve(entry.spec());
                }
                return call::call(runtime, &invoker, entry.spec(), arguments, json);
            }
        }
        Ok(ExitCode::SUCCESS)
    };
    attach::with(surroundings, registry, Stay::Short, needed, work)
}

fn schema(spec: &ToolSpec, dialect: Option<&str>) -> Result<ExitCode, Failure> {
    let Some(dialect) = dialect.map(check::dialect).transpose()? else {
        print::json(&spec.input)?;
        return Ok(ExitCode::SUCCESS);
    };
    let lowered = spec
        .input
        .lower(dialect)
        .map_err(|error| Failure::finding(error))?;
    print::json(lowered.schema())?;
    for loss in lowered.losses() {
        print::aside(&format!("{loss}\n"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Finds a tool by its exact name, or says which name is nearest.
fn find<'a>(
    snapshot: &'a Snapshot,
    name: &str,
    missing: &[String],
) -> Result<&'a RegisteredTool, Failure> {
    snapshot.get(name).ok_or_else(|| {
        let hint = match snapshot.nearest(name, 1).first() {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`tools list` shows all there are".to_owned(),
        };
        attach::unknown(format!("there is no tool `{name}`; {hint}"), missing)
    })
}

fn list(snapshot: &Snapshot, json: bool) -> Result<(), Failure> {
    if json {
        let specs: Vec<&ToolSpec> = snapshot.iter().map(RegisteredTool::spec).collect();
        return print::json(&specs);
    }
    if snapshot.is_empty() {
        eprintln!(
            "no tools: add one with `#[tool]`, and name its crate in `main` (`use my_tools as _;`)"
        );
        return Ok(());
    }
    print::text(&listing(snapshot.iter().map(RegisteredTool::spec)))
}

/// Writes a line for each name, under the bundle it belongs to.
pub(crate) fn listing<'a>(specs: impl Iterator<Item = &'a ToolSpec> + Clone) -> String {
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

fn show(entry: &RegisteredTool, json: bool) -> Result<(), Failure> {
    let spec = entry.spec();
    if json {
        return print::json(spec);
    }
    let mut text = format!("{}", spec.name);
    if let Some(title) = &spec.title {
        text.push_str(&format!(" — {title}"));
    }
    text.push_str(&format!(
        "\n{}\n\nbundle    {}\n",
        spec.description, spec.bundle
    ));
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
    let output = if spec.output.is_some() {
        "structured"
    } else {
        "text"
    };
    text.push_str(&format!("result    {output}\n\n"));
    text.push_str(&parameters(spec));
    print::text(&text)
}

fn parameters(spec: &ToolSpec) -> String {
    let params = spec.params();
    if params.is_empty() {
        return format!("no parameters\n\ntools call {}\n", spec.name);
    }
    let widest = |of: fn(&toolwright_core::ParamInfo) -> usize| {
        params.iter().map(of).max().unwrap_or_default()
    };
    let (names, kinds) = (
        widest(|param| param.name.len()),
        widest(|param| param.json_type.len()),
    );
    let mut text = String::from("parameters\n");
    let mut example = format!("tools call {}", spec.name);
    for param in &params {
        let need = match (&param.default, param.required) {
            (Some(default), _) => format!("default {default}"),
            (None, true) => "required".to_owned(),
            (None, false) => "optional".to_owned(),
        };
        let description = param
            .description
            .as_deref()
            .unwrap_or_default()
            .replace('\n', " ");
        let line = format!(
            "  {:names$}  {:kinds$}  {need}  {description}",
            param.name, param.json_type
        );
        text.push_str(line.trim_end());
        text.push('\n');
        if param.required {
            example.push_str(&format!(
                " {}={}",
                param.name,
                param.json_type.to_uppercase().replace(' ', "_")
            ));
        }
    }
    format!("{text}\n{example}\n")
}
