//! The schema rules of each provider, as lists of checks.

pub(crate) mod anthropic;
pub(crate) mod google;
pub(crate) mod mcp;
pub(crate) mod ollama;
pub(crate) mod openai;
pub(crate) mod other_providers;
pub(crate) mod portable;

use serde_json::Value;

use super::{
    Rejection, keywords,
    report::Report,
    subschemas::{Subschema, SubschemaList},
};

/// What a provider accepts. The checks run in the order of the fields.
pub(crate) struct ProviderRules {
    /// The checks of the schema as a whole.
    pub(crate) whole: &'static [WholeCheck],
    /// The only keywords that are accepted, and below which subschemas are checked; `None` accepts all.
    pub(crate) keywords: Option<&'static [&'static str]>,
    /// The keywords that are accepted at the root, if they differ.
    pub(crate) root_keywords: Option<&'static [&'static str]>,
    /// The checks of every subschema.
    pub(crate) each: &'static [SubschemaCheck],
    /// The checks of limits that hold for all subschemas together.
    pub(crate) totals: &'static [WholeCheck],
}

pub(crate) type WholeCheck = fn(&mut Report<'_>);
pub(crate) type SubschemaCheck = fn(&Subschema<'_>, &mut Report<'_>);

/// No checks; the providers override some fields.
const NO_RULES: ProviderRules =
    ProviderRules { whole: &[], keywords: None, root_keywords: None, each: &[], totals: &[] };

impl ProviderRules {
    /// Lists what the provider would reject.
    pub(crate) fn check(&self, schema: &Value) -> Vec<Rejection> {
        let subschemas = SubschemaList::new(schema, self.keywords);
        let mut report = Report::new(&subschemas);
        self.whole.iter().for_each(|check| check(&mut report));
        for subschema in subschemas.entries() {
            if let Some(accepted) = self.keywords {
                let root = self.root_keywords.filter(|_| subschema.is_root());
                keywords::require_object_schema(subschema, &mut report);
                keywords::allow_only(subschema, root.unwrap_or(accepted), &mut report);
            }
            self.each.iter().for_each(|check| check(subschema, &mut report));
        }
        self.totals.iter().for_each(|check| check(&mut report));
        report.into_rejections()
    }
}
