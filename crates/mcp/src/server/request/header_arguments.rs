//! Arguments that a client repeats in headers, so that those in between can read them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use toolwright_core::Snapshot;

use crate::server::error::RpcError;

/// What each tool has repeated, as it was found in one snapshot.
#[derive(Default)]
pub(crate) struct HeaderArguments(Mutex<Option<(Arc<Snapshot>, Arc<HeaderArgumentsByTool>)>>);

/// Tools by name, those without such arguments left out.
type HeaderArgumentsByTool = HashMap<Box<str>, Vec<HeaderArgument>>;

/// One argument and its header.
struct HeaderArgument {
    header: String,
    path: Vec<String>,
}

impl HeaderArguments {
    /// Checks that headers repeat what the arguments say.
    pub(crate) fn check_headers<'h>(
        &self,
        snapshot: &Arc<Snapshot>,
        tool: &str,
        arguments: &str,
        header: impl Fn(&str) -> Option<&'h [u8]>,
    ) -> Result<(), RpcError> {
        let table = self.by_tool(snapshot);
        let Some(mirrors) = table.get(tool) else {
            return Ok(());
        };
        let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
        for mirror in mirrors {
            let mut sent = Some(&arguments);
            for name in &mirror.path {
                sent = sent.and_then(|value| value.get(name));
            }
            let sent = sent.filter(|value| !value.is_null());
            let said = header(&mirror.header)
                .map(|raw| {
                    decode_header(raw).ok_or_else(|| {
                        let name = &mirror.header;
                        RpcError::header_mismatch(format!("header `{name}` cannot be read"))
                    })
                })
                .transpose()?;
            if !header_matches(sent, said.as_deref()) {
                let name = &mirror.header;
                let message = format!("header `{name}` does not repeat what the arguments say");
                return Err(RpcError::header_mismatch(message));
            }
        }
        Ok(())
    }

    fn by_tool(&self, snapshot: &Arc<Snapshot>) -> Arc<HeaderArgumentsByTool> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            Some((known, table)) if Arc::ptr_eq(known, snapshot) => Arc::clone(table),
            _ => {
                let table = Arc::new(index_tools(snapshot));
                *kept = Some((Arc::clone(snapshot), Arc::clone(&table)));
                table
            }
        }
    }
}

fn index_tools(snapshot: &Snapshot) -> HeaderArgumentsByTool {
    let mut table = HeaderArgumentsByTool::new();
    for entry in snapshot {
        let mut mirrors = Vec::new();
        collect_from_schema(entry.spec().input.as_value(), &mut Vec::new(), &mut mirrors);
        if !mirrors.is_empty() {
            table.insert(entry.spec().name.as_str().into(), mirrors);
        }
    }
    table
}

fn collect_from_schema(schema: &Value, path: &mut Vec<String>, mirrors: &mut Vec<HeaderArgument>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        path.push(name.clone());
        if let Some(header) = property.get("x-mcp-header").and_then(Value::as_str) {
            mirrors.push(HeaderArgument {
                header: format!("mcp-param-{}", header.to_ascii_lowercase()),
                path: path.clone(),
            });
        }
        // What is deeper than this is nobody's idea of a header.
        if path.len() < 8 {
            collect_from_schema(property, path, mirrors);
        }
        path.pop();
    }
}

fn header_matches(sent: Option<&Value>, said: Option<&str>) -> bool {
    match (sent, said) {
        (None, None) => true,
        (Some(Value::String(sent)), Some(said)) => sent == said,
        (Some(Value::Bool(sent)), Some(said)) => said == if *sent { "true" } else { "false" },
        (Some(Value::Number(sent)), Some(said)) => {
            sent.to_string() == said || sent.as_f64().is_some_and(|it| said.parse() == Ok(it))
        }
        _ => false,
    }
}

/// Reads a header's value: plain, or in base64 where it could not be plain.
pub(crate) fn decode_header(raw: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(raw).ok()?.trim_matches([' ', '\t']);
    if !text
        .bytes()
        .all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte))
    {
        return None;
    }
    let encoded = text
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="));
    match encoded {
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok(),
        None => Some(text.to_owned()),
    }
}
