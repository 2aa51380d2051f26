//! Checks of `$ref` in strict modes: it must name a definition.

use std::collections::{BTreeMap, BTreeSet};

use percent_encoding::percent_decode_str;
use serde_json::Value;

use crate::provider_rules::{
    report::{Report, excerpt},
    subschemas::{PathSegment, Subschema, SubschemaList},
};

/// A reference in a strict mode.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum RefTarget {
    Root,
    Definition(String),
}

fn parse_ref(reference: &str) -> Option<RefTarget> {
    if reference == "#" {
        return Some(RefTarget::Root);
    }
    let name = reference.strip_prefix("#/$defs/").filter(|name| !name.contains('/'))?;
    let name = percent_decode_str(name).decode_utf8().ok()?;
    Some(RefTarget::Definition(name.replace("~1", "/").replace("~0", "~")))
}

/// References are `#` or `#/$defs/x`, where `x` is defined.
pub(crate) fn require_known_definitions(report: &mut Report<'_>) {
    let subschemas = report.subschemas();
    let defined = subschemas.root().get("$defs");
    for subschema in subschemas.entries() {
        let Some(reference) = subschema.get("$ref").and_then(Value::as_str) else {
            continue;
        };
        match parse_ref(reference) {
            Some(RefTarget::Root) => {}
            Some(RefTarget::Definition(name)) => {
                if !defined.and_then(|defined| defined.get(&name)).is_some_and(Value::is_object) {
                    report.reject(
                        subschema,
                        format!("`$ref` finds no schema at `{}`", excerpt(reference)),
                    );
                }
            }
            None => report.reject(subschema, "`$ref` must be `#` or `#/$defs/` and a name"),
        }
    }
}

/// No recursion through definitions.
pub(crate) fn forbid_recursion(report: &mut Report<'_>) {
    let subschemas = report.subschemas();
    let mut leaving: BTreeMap<RefTarget, Vec<(RefTarget, &Subschema<'_>)>> = BTreeMap::new();
    for subschema in subschemas.entries() {
        if let Some(target) = subschema.get("$ref").and_then(Value::as_str).and_then(parse_ref) {
            leaving
                .entry(enclosing_definition(subschemas, subschema))
                .or_default()
                .push((target, subschema));
        }
    }
    // Depth first with an explicit stack: a chain of definitions may be as long as a schema has values.
    let mut entered: BTreeSet<RefTarget> = BTreeSet::new();
    for start in leaving.keys() {
        if !entered.insert(start.clone()) {
            continue;
        }
        let mut stack = vec![(start.clone(), 0)];
        let mut on_the_way = BTreeSet::from([start.clone()]);
        while let Some((node, next)) = stack.last_mut() {
            let Some((target, subschema)) = leaving.get(node).and_then(|edges| edges.get(*next))
            else {
                on_the_way.remove(node);
                stack.pop();
                continue;
            };
            *next += 1;
            if on_the_way.contains(target) {
                report.reject(subschema, "a recursive `$ref` is not accepted");
            } else if entered.insert(target.clone()) {
                on_the_way.insert(target.clone());
                stack.push((target.clone(), 0));
            }
        }
    }
}

/// The definition that contains a subschema.
fn enclosing_definition(subschemas: &SubschemaList<'_>, subschema: &Subschema<'_>) -> RefTarget {
    let definition =
        subschemas.self_and_ancestors(subschema).find_map(|subschema| match subschema.segment {
            PathSegment::Name("$defs", name)
                if subschemas.parent(subschema).is_some_and(Subschema::is_root) =>
            {
                Some(name)
            }
            _ => None,
        });
    definition.map_or(RefTarget::Root, |name| RefTarget::Definition(name.to_owned()))
}
