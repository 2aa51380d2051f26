//! Removes annotations; those that a model should know are moved into the description.
//!
//! This pass also removes `$schema`, which determines the meaning of the other keywords, so older drafts are converted to
//! 2020-12 first.

use serde_json::Value;

use super::applies_to::is_assertion;
use crate::lower::pass::all_of::move_keyword;
use crate::lower::{
    JsonObject, KeywordLookup, KeywordSet, LIFT_KEYWORD, LowerError, LoweringState, SchemaCursor,
    Severity, append_to_description,
};
use crate::text::english::truncated;

/// Removed besides unknown keywords.
const ANNOTATION_KEYWORDS: [&str; 6] =
    ["$anchor", "$dynamicAnchor", "$id", "$schema", "default", "title"];

/// Longer values are truncated.
const MAX_SHOWN_CHARS: usize = 80;

pub(crate) fn run(state: &mut LoweringState) -> Result<(), LowerError> {
    if !state.contains_any(
        KeywordSet::from_keywords(&ANNOTATION_KEYWORDS).union(KeywordSet::OTHER_KEYWORD),
    ) {
        return Ok(());
    }
    let edition = SchemaDraft::of(&state.schema);
    let keeps_default = state.rules.allows_keyword("default");
    let stays = |keyword: &str| match keyword {
        "default" => keeps_default,
        _ => edition.defines_keyword(keyword),
    };
    state.visit_top_down(|members, cursor| {
        if edition < SchemaDraft::LATEST {
            upgrade_draft(members);
        }
        if members.keys().all(|keyword| stays(keyword)) {
            return;
        }
        title_to_description(members);
        describe_content(members, cursor, edition);
        if !keeps_default {
            describe_default(members, cursor);
        }
        members.retain(|keyword, _| stays(keyword));
    });
    if edition < SchemaDraft::LATEST {
        state.invalidate_keywords();
    }
    Ok(())
}

/// The draft of JSON Schema that a schema is written in, by number or year.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SchemaDraft(u16);

impl SchemaDraft {
    const LATEST: Self = Self(2020);

    fn of(schema: &Value) -> Self {
        let name = schema.text("$schema").unwrap_or_default();
        let drafts = [("draft-04", 4), ("draft-06", 6), ("draft-07", 7), ("2019-09", 2019)];
        drafts
            .into_iter()
            .find(|(subschema, _)| name.contains(subschema))
            .map_or(Self::LATEST, |(_, number)| Self(number))
    }

    /// Returns true if the draft defines the keyword; one that it does not define is an annotation.
    fn defines_keyword(self, keyword: &str) -> bool {
        let since = match keyword {
            // The most frequent keywords.
            "type" | "description" => return true,
            "const" | "contains" | "propertyNames" => 6,
            "else" | "if" | "then" => 7,
            "$recursiveRef"
            | "dependentRequired"
            | "dependentSchemas"
            | "maxContains"
            | "minContains"
            | "unevaluatedItems"
            | "unevaluatedProperties" => 2019,
            // `items` and `prefixItems` of an older draft have been converted by now.
            "$dynamicRef" | "prefixItems" => return true,
            // Later passes write these; a schema that is lowered again has them already.
            "nullable" | "propertyOrdering" | LIFT_KEYWORD => return true,
            "$defs" | "definitions" => 4,
            _ if is_assertion(keyword) => 4,
            _ => return false,
        };
        self >= Self(since)
    }
}

/// Converts the keywords of an older draft to 2020-12.
fn upgrade_draft(members: &mut JsonObject) {
    // Unknown to the older draft, so it must not get a meaning now.
    members.remove_keyword("prefixItems");
    let rest = members.remove_keyword("additionalItems");
    if members.list("items").is_some() {
        move_keyword(members, "items", "prefixItems");
        if let Some(rest) = rest {
            members.set_keyword("items", rest);
        }
    }
    for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        if let Some(Value::Bool(flag)) = members.keyword(exclusive).cloned() {
            members.remove_keyword(exclusive);
            if flag {
                move_keyword(members, bound, exclusive);
            }
        }
    }
}

/// Uses the title where there is no description.
fn title_to_description(members: &mut JsonObject) {
    let text = |keyword: &str| members.text(keyword).map(str::trim);
    let title = text("title").filter(|title| !title.is_empty());
    if let (Some(title), None | Some("")) = (title, text("description")) {
        let title = Value::from(title);
        members.set_keyword("description", title);
    }
}

/// `contentMediaType` and `contentEncoding`.
fn describe_content(members: &mut JsonObject, cursor: &mut SchemaCursor<'_>, edition: SchemaDraft) {
    let description = match (members.text("contentMediaType"), members.text("contentEncoding")) {
        (Some(media_type), Some(encoding)) => format!("{media_type} as {encoding} text"),
        (Some(one), None) | (None, Some(one)) => format!("{one} text"),
        (None, None) => return,
    };
    append_to_description(members, &description);
    // Assertions in drafts 6 and 7, annotations in newer ones.
    let severity = match edition {
        SchemaDraft(6 | 7) => Severity::Wider,
        _ => Severity::Note,
    };
    for keyword in ["contentMediaType", "contentEncoding"] {
        if members.has_keyword(keyword) {
            cursor.report_loss(keyword, severity, Some(description.clone()));
        }
    }
}

fn describe_default(members: &mut JsonObject, cursor: &mut SchemaCursor<'_>) {
    if let Some(value) = members.keyword("default") {
        let description = format!("default: {}", truncated(value.to_string(), MAX_SHOWN_CHARS));
        append_to_description(members, &description);
        cursor.report_loss("default", Severity::Note, Some(description));
    }
}
