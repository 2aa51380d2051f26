//! What strict modes ask of `$ref`: it names a definition.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    outline::{Outline, Place, Step},
    reference::decoded,
    report::{Report, short},
};

/// A reference that strict modes follow.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Root,
    Definition(String),
}

fn target(reference: &str) -> Option<Target> {
    if reference == "#" {
        return Some(Target::Root);
    }
    let name = reference
        .strip_prefix("#/$defs/")
        .filter(|name| !name.contains('/'))?;
    Some(Target::Definition(
        decoded(name)?.replace("~1", "/").replace("~0", "~"),
    ))
}

/// References are `#` or `#/$defs/x`, where `x` is defined.
pub(super) fn are_found(report: &mut Report<'_, '_>) {
    let outline = report.outline();
    let defined = outline.root().get("$defs");
    for place in outline.places() {
        let Some(reference) = place.get("$ref").and_then(Value::as_str) else {
            continue;
        };
        match target(reference) {
            Some(Target::Root) => {}
            Some(Target::Definition(name)) => {
                if !defined
                    .and_then(|defined| defined.get(&name))
                    .is_some_and(Value::is_object)
                {
                    report.refuse(
                        place,
                        format!("`$ref` finds no schema at `{}`", short(reference)),
                    );
                }
            }
            None => report.refuse(place, "`$ref` must be `#` or `#/$defs/` and a name"),
        }
    }
}

/// No schema that contains itself by way of its definitions.
pub(super) fn are_not_recursive(report: &mut Report<'_, '_>) {
    let outline = report.outline();
    let mut leaving: BTreeMap<Target, Vec<(Target, &Place<'_>)>> = BTreeMap::new();
    for place in outline.places() {
        if let Some(target) = place.get("$ref").and_then(Value::as_str).and_then(target) {
            leaving
                .entry(owner(outline, place))
                .or_default()
                .push((target, place));
        }
    }
    // Depth first, with a stack of its own: as many definitions may stand in a row as a schema has values.
    let mut entered: BTreeSet<Target> = BTreeSet::new();
    for start in leaving.keys() {
        if !entered.insert(start.clone()) {
            continue;
        }
        let mut open = vec![(start.clone(), 0)];
        let mut on_the_way = BTreeSet::from([start.clone()]);
        while let Some((node, next)) = open.last_mut() {
            let Some((target, place)) = leaving.get(node).and_then(|edges| edges.get(*next)) else {
                on_the_way.remove(node);
                open.pop();
                continue;
            };
            *next += 1;
            if on_the_way.contains(target) {
                report.refuse(place, "a recursive `$ref` is not accepted");
            } else if entered.insert(target.clone()) {
                on_the_way.insert(target.clone());
                open.push((target.clone(), 0));
            }
        }
    }
}

/// The definition a place stands in.
fn owner<'a>(outline: &Outline<'a>, place: &Place<'a>) -> Target {
    let definition = outline.outwards(place).find_map(|place| match place.step {
        Step::Named("$defs", name) if outline.around(place).is_some_and(Place::is_root) => {
            Some(name)
        }
        _ => None,
    });
    definition.map_or(Target::Root, |name| Target::Definition(name.to_owned()))
}
