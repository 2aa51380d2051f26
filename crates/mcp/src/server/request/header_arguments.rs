//! Arguments that clients repeat in headers, so that proxies can read them (`x-mcp-header`).

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use data_encoding::BASE64;
use serde_json::Value;
use toolwright_core::Snapshot;

use crate::lock::lock;
use crate::server::RpcError;

/// The header arguments of all tools, cached for one snapshot.
#[derive(Default)]
pub(crate) struct HeaderArguments(Mutex<Option<(Arc<Snapshot>, Arc<HeaderArgumentsByTool>)>>);

/// By the name of the tool; tools without header arguments are left out.
type HeaderArgumentsByTool = HashMap<Box<str>, Vec<HeaderArgument>>;

/// The path of an argument, and its header.
struct HeaderArgument {
    header: String,
    path: Vec<String>,
}

impl HeaderArguments {
    /// Checks that the headers repeat the arguments.
    pub(crate) fn check_headers<'h>(
        &self,
        snapshot: &Arc<Snapshot>,
        tool: &str,
        arguments: &str,
        header: impl Fn(&str) -> Option<&'h [u8]>,
    ) -> Result<(), RpcError> {
        let table = self.by_tool(snapshot);
        let Some(header_arguments) = table.get(tool) else {
            return Ok(());
        };
        let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
        for argument in header_arguments {
            let mut value = Some(&arguments);
            for name in &argument.path {
                value = value.and_then(|value| value.get(name));
            }
            let value = value.filter(|value| !value.is_null());
            let text = header(&argument.header)
                .map(|raw| {
                    decode_header(raw).ok_or_else(|| {
                        let name = &argument.header;
                        RpcError::header_mismatch(format!("header `{name}` cannot be read"))
                    })
                })
                .transpose()?;
            if !header_matches(value, text.as_deref()) {
                let name = &argument.header;
                let message = format!("header `{name}` does not repeat what the arguments say");
                return Err(RpcError::header_mismatch(message));
            }
        }
        Ok(())
    }

    fn by_tool(&self, snapshot: &Arc<Snapshot>) -> Arc<HeaderArgumentsByTool> {
        let mut cache = lock(&self.0);
        match &*cache {
            Some((cached, table)) if Arc::ptr_eq(cached, snapshot) => Arc::clone(table),
            _ => {
                let table = Arc::new(index_tools(snapshot));
                *cache = Some((Arc::clone(snapshot), Arc::clone(&table)));
                table
            }
        }
    }
}

fn index_tools(snapshot: &Snapshot) -> HeaderArgumentsByTool {
    let mut table = HeaderArgumentsByTool::new();
    for entry in snapshot {
        let mut found = Vec::new();
        collect_from_schema(entry.spec().input.as_value(), &mut Vec::new(), &mut found);
        if !found.is_empty() {
            table.insert(entry.spec().name.as_str().into(), found);
        }
    }
    table
}

fn collect_from_schema<'s>(
    schema: &'s Value,
    path: &mut Vec<&'s str>,
    found: &mut Vec<HeaderArgument>,
) {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        path.push(name);
        if let Some(header) = property.get("x-mcp-header").and_then(Value::as_str) {
            found.push(HeaderArgument {
                header: format!("mcp-param-{}", header.to_ascii_lowercase()),
                path: path.iter().map(|&name| name.to_owned()).collect(),
            });
        }
        // Deeper arguments are not searched for.
        if path.len() < 8 {
            collect_from_schema(property, path, found);
        }
        path.pop();
    }
}

fn header_matches(argument: Option<&Value>, header: Option<&str>) -> bool {
    match (argument, header) {
        (None, None) => true,
        (Some(Value::String(text)), Some(header)) => text == header,
        (Some(Value::Bool(value)), Some(header)) => header == if *value { "true" } else { "false" },
        (Some(Value::Number(number)), Some(header)) => {
            let parsed = header.parse();
            number.to_string() == header || number.as_f64().is_some_and(|it| parsed == Ok(it))
        }
        _ => false,
    }
}

/// Decodes the value of a header: plain ASCII, or `=?base64?…?=` for other text.
pub(crate) fn decode_header(raw: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(raw).ok()?.trim_matches([' ', '\t']);
    if !text.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte)) {
        return None;
    }
    let encoded = text.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    match encoded {
        Some(encoded) => String::from_utf8(BASE64.decode(encoded.as_bytes()).ok()?).ok(),
        None => Some(text.to_owned()),
    }
}
