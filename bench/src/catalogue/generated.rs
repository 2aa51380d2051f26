//! Schemas as three generators write them.

use serde_json::{Value, json};

use super::SchemaTopic;

/// Rust's schemars: `$defs`, type lists with null, formats of its own, enums as `oneOf` of `const`.
pub(super) fn schemars(topic: &SchemaTopic) -> Value {
    let SchemaTopic { noun, area, .. } = topic;
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("Import{noun}Args"),
        "type": "object",
        "properties": {
            "source": {"$ref": "#/$defs/Source", "description": format!("Where the {noun} comes from.")},
            "mode": {"anyOf": [{"$ref": "#/$defs/Mode"}, {"type": "null"}], "description": "What happens to those that exist."},
            "fallback": {"$ref": "#/$defs/Source"},
            "batch_size": {"type": "integer", "format": "uint32", "minimum": 0, "default": 500},
            "max_errors": {"type": ["integer", "null"], "format": "uint", "minimum": 0},
            "sample_rate": {"type": "number", "format": "double", "default": 1.0},
            "delimiter": {"type": ["string", "null"], "maxLength": 1, "minLength": 1},
            "columns": {"type": "object", "additionalProperties": {"type": "string"}, "description": format!("Names in the file by names in {area}.")},
            "extra": {"description": "Handed to the importer as it is."},
            "skip": {"type": ["array", "null"], "items": {"type": "integer", "format": "int64"}},
            "notify": {"type": ["string", "null"], "default": null}
        },
        "required": ["source", "batch_size"],
        "$defs": {
            "Source": {
                "oneOf": [
                    {
                        "description": "A file on the share.",
                        "type": "object",
                        "properties": {
                            "type": {"type": "string", "const": "file"},
                            "path": {"type": "string"}
                        },
                        "required": ["type", "path"]
                    },
                    {
                        "description": "An address to fetch.",
                        "type": "object",
                        "properties": {
                            "type": {"type": "string", "const": "url"},
                            "url": {"type": "string", "format": "uri"},
                            "timeout": {"type": ["integer", "null"], "format": "uint8", "minimum": 0, "maximum": 255}
                        },
                        "required": ["type", "url"]
                    }
                ]
            },
            "Mode": {
                "oneOf": [
                    {"description": "Leaves them alone.", "type": "string", "const": "skip"},
                    {"description": "Replaces them.", "type": "string", "const": "replace"},
                    {"description": "Adds what they lack.", "type": "string", "const": "merge"}
                ]
            }
        }
    })
}

/// Python's pydantic: titles everywhere, `anyOf` with null, a default beside it, a discriminator.
pub(super) fn pydantic(topic: &SchemaTopic) -> Value {
    let SchemaTopic { noun, area, .. } = topic;
    json!({
        "$defs": {
            "Granularity": {"enum": topic.take_prefix(&["hour", "day", "week", "month", "quarter", "year"]), "title": "Granularity", "type": "string"},
            "Between": {
                "properties": {
                    "kind": {"const": "between", "default": "between", "title": "Kind", "type": "string"},
                    "start": {"format": "date", "title": "Start", "type": "string"},
                    "end": {"format": "date", "title": "End", "type": "string"}
                },
                "required": ["start", "end"],
                "title": "Between",
                "type": "object"
            },
            "Last": {
                "properties": {
                    "kind": {"const": "last", "default": "last", "title": "Kind", "type": "string"},
                    "days": {"exclusiveMinimum": 0, "maximum": 3650, "title": "Days", "type": "integer"}
                },
                "required": ["days"],
                "title": "Last",
                "type": "object"
            }
        },
        "properties": {
            "metric": {"description": format!("What is measured of each {noun}."), "title": "Metric", "type": "string"},
            "period": {
                "discriminator": {"mapping": {"between": "#/$defs/Between", "last": "#/$defs/Last"}, "propertyName": "kind"},
                "oneOf": [{"$ref": "#/$defs/Between"}, {"$ref": "#/$defs/Last"}],
                "title": "Period"
            },
            "granularity": {"$ref": "#/$defs/Granularity", "default": "day"},
            "region": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": null, "title": "Region"},
            "segments": {"anyOf": [{"items": {"type": "string"}, "type": "array"}, {"type": "null"}], "default": null, "title": "Segments"},
            "threshold": {"anyOf": [{"type": "number", "minimum": 0}, {"type": "null"}], "default": null, "description": format!("Below it {area} is not interested."), "title": "Threshold"},
            "weights": {"additionalProperties": {"type": "number"}, "title": "Weights", "type": "object"},
            "baseline": {"anyOf": [{"type": "integer"}, {"type": "string"}], "title": "Baseline"},
            "top": {"default": 10, "maximum": 50, "minimum": 1, "title": "Top", "type": "integer"},
            "explain": {"default": false, "title": "Explain", "type": "boolean"}
        },
        "required": ["metric", "period"],
        "title": format!("Analyse{noun}Arguments"),
        "type": "object"
    })
}

/// TypeScript's zod: closed objects, exclusive bounds, an intersection as `allOf`, draft 7.
pub(super) fn zod(topic: &SchemaTopic) -> Value {
    let SchemaTopic { noun, area, .. } = topic;
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "channel": {"type": "string", "enum": topic.take_prefix(&["email", "sms", "push", "chat", "letter", "webhook"])},
            "recipients": {
                "type": "array",
                "minItems": 1,
                "maxItems": 500,
                "items": {
                    "anyOf": [
                        {"type": "string", "format": "email"},
                        {
                            "type": "object",
                            "properties": {
                                "userId": {"type": "integer", "exclusiveMinimum": 0},
                                "locale": {"type": "string", "default": "en"}
                            },
                            "required": ["userId"],
                            "additionalProperties": false
                        }
                    ]
                }
            },
            "template": {"type": "string", "description": format!("The text that {area} sends about a {noun}."), "minLength": 1},
            "variables": {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}},
            "audience": {
                "allOf": [
                    {"type": "object", "properties": {"plan": {"type": "string", "enum": ["free", "team", "enterprise"]}}, "required": ["plan"]},
                    {"type": "object", "properties": {"minSeats": {"type": "integer", "minimum": 1}, "trial": {"type": "boolean"}}}
                ]
            },
            "sendAt": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "string", "const": "now"}], "default": "now"},
            "priority": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 10, "description": "Higher goes out sooner."},
            "webhook": {
                "type": "object",
                "properties": {
                    "url": {"type": "string", "format": "uri"},
                    "secret": {"type": "string", "minLength": 16},
                    "events": {"type": "array", "items": {"type": "string", "enum": ["sent", "opened", "bounced"]}}
                },
                "required": ["url"],
                "additionalProperties": false
            },
            "trackOpens": {"type": "boolean", "default": false}
        },
        "required": ["channel", "recipients", "template"],
        "additionalProperties": false
    })
}
