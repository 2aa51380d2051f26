//! Schemas as people write them by hand.

use serde_json::{Value, json};

use super::SchemaTopic;

/// Plain types and nothing else.
pub(super) fn lookup(topic: &SchemaTopic) -> Value {
    let SchemaTopic { noun, area, .. } = topic;
    json!({
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": format!("The {noun}'s number as it is printed on letters of {area}, e.g. `4711`.")},
            "fields": {
                "type": "array",
                "description": format!("What to tell about the {noun}; everything if absent."),
                "items": {"type": "string", "enum": topic.take_prefix(&["name", "status", "history", "owner", "costs", "files", "comments"])}
            },
            "language": {"type": "string", "description": "In which language labels are written, e.g. `de`."},
            "units": {"type": "string", "enum": ["metric", "imperial"], "description": "For weights and lengths."},
            "max_comments": {"type": "integer", "description": "How many of the last comments are told."},
            "with_archived": {"type": "boolean", "description": format!("Whether to look in what {area} has put away, too.")},
            "as_of": {"type": "string", "format": "date", "description": "The day whose state is told; today if absent."}
        },
        "required": ["id"]
    })
}

/// A record with nested objects and a list of them.
pub(super) fn crud(topic: &SchemaTopic) -> Value {
    let SchemaTopic { noun, area, .. } = topic;
    json!({
        "type": "object",
        "properties": {
            "title": {"type": "string", "description": format!("What the {noun} is called in lists."), "minLength": 1, "maxLength": 120},
            "reference": {"type": "string", "description": format!("The {noun}'s number in {area}."), "pattern": "^[A-Z]{2,4}-[0-9]{4,8}$"},
            "status": {"type": "string", "enum": topic.take_prefix(&["draft", "open", "approved", "shipped", "closed", "cancelled"])},
            "owner": {
                "type": "object",
                "description": format!("Who answers for the {noun}."),
                "properties": {
                    "id": {"type": "string", "format": "uuid"},
                    "role": {"type": "string", "enum": ["owner", "editor", "viewer"]},
                    "email": {"type": "string", "format": "email"}
                },
                "required": ["id"]
            },
            "address": {
                "type": "object",
                "properties": {
                    "street": {"type": "string"},
                    "city": {"type": "string"},
                    "postal_code": {"type": "string", "pattern": "^[0-9A-Z -]{3,10}$"},
                    "country": {"type": "string", "description": "Two letters, as in ISO 3166.", "minLength": 2, "maxLength": 2}
                },
                "required": ["street", "city", "country"]
            },
            "lines": {
                "type": "array",
                "minItems": 1,
                "maxItems": 100,
                "items": {
                    "type": "object",
                    "properties": {
                        "sku": {"type": "string"},
                        "quantity": {"type": "integer", "minimum": 1},
                        "price": {"type": "number", "minimum": 0, "description": "The price of one, without tax."}
                    },
                    "required": ["sku", "quantity"]
                }
            },
            "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": true},
            "note": {"type": "string", "description": "Anything else a colleague should know."},
            "dry_run": {"type": "boolean", "description": "Only check, change nothing."}
        },
        "required": ["title", "owner", "lines"]
    })
}

/// A query with filters, an order and pages.
pub(super) fn search(topic: &SchemaTopic) -> Value {
    let SchemaTopic { noun, area, .. } = topic;
    json!({
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": format!("Words that the {noun} must contain, e.g. `urgent {area}`.")},
            "status": {
                "type": "array",
                "description": "Any of these; all if absent.",
                "items": {"type": "string", "enum": topic.take_prefix(&["new", "open", "waiting", "on_hold", "solved", "closed", "archived"])}
            },
            "priority": {"type": "integer", "enum": [1, 2, 3, 4, 5], "description": "1 is the most urgent."},
            "created_after": {"type": "string", "format": "date", "description": format!("Only a {noun} created on this day or later.")},
            "created_before": {"type": "string", "format": "date"},
            "amount": {
                "type": "object",
                "properties": {
                    "min": {"type": "number", "minimum": 0},
                    "max": {"type": "number", "minimum": 0},
                    "currency": {"type": "string", "enum": ["EUR", "USD", "GBP", "CHF", "JPY"]}
                }
            },
            "assignee": {"type": ["string", "null"], "description": "A user's name; null for those of nobody."},
            "sort_by": {"type": "string", "enum": ["created", "updated", "priority", "amount"], "default": "created"},
            "descending": {"type": "boolean", "default": true},
            "page_size": {"type": "integer", "minimum": 1, "maximum": 100, "default": 25},
            "cursor": {"type": "string", "description": "Where the page before this one ended, as it was returned with it."}
        },
        "required": ["query"]
    })
}

/// Paths, globs, encodings and bytes.
pub(super) fn files(topic: &SchemaTopic) -> Value {
    let SchemaTopic { noun, area, .. } = topic;
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": format!("Where the {noun}'s file goes, relative to the share of {area}."), "minLength": 1, "maxLength": 4096},
            "content": {"type": "string", "description": "The text, or base64 where `encoding` says so."},
            "encoding": {"type": "string", "enum": ["utf-8", "utf-16", "latin-1", "base64"]},
            "mode": {"type": "string", "enum": ["create", "overwrite", "append"], "description": "What happens if the file exists."},
            "line_range": {
                "type": "object",
                "description": "Replaces only these lines, both included.",
                "properties": {
                    "start": {"type": "integer", "minimum": 1},
                    "end": {"type": "integer", "minimum": 1}
                },
                "required": ["start", "end"],
                "additionalProperties": false
            },
            "exclude": {"type": "array", "items": {"type": "string", "description": "A glob, e.g. `**/*.tmp`."}, "maxItems": 50},
            "permissions": {"type": "string", "pattern": "^[0-7]{3,4}$", "examples": ["644", "0755"]},
            "source": {"type": "string", "format": "uri", "description": "Fetches the content from there instead."},
            "max_bytes": {"type": "integer", "format": "int64", "minimum": 0, "maximum": 104_857_600},
            "follow_links": {"type": "boolean"},
            "checksum": {"type": "string", "description": "SHA-256 of what is expected there now.", "pattern": "^[a-f0-9]{64}$"}
        },
        "required": ["path", "content"],
        "additionalProperties": false
    })
}

/// Times, durations, people and a rule of recurrence.
pub(super) fn calendar(topic: &SchemaTopic) -> Value {
    let SchemaTopic { noun, area, .. } = topic;
    json!({
        "type": "object",
        "properties": {
            "subject": {"type": "string", "description": format!("What the appointment about the {noun} is called."), "maxLength": 200},
            "start": {"type": "string", "format": "date-time", "description": "With offset, e.g. 2026-11-15T09:00:00+01:00."},
            "end": {"type": "string", "format": "date-time"},
            "time_zone": {"type": "string", "description": "An IANA name, e.g. Europe/Berlin."},
            "attendees": {
                "type": "array",
                "maxItems": 50,
                "items": {
                    "type": "object",
                    "properties": {
                        "email": {"type": "string", "format": "email"},
                        "name": {"type": "string"},
                        "optional": {"type": "boolean"},
                        "response": {"type": "string", "enum": ["accepted", "declined", "tentative", "none"]}
                    },
                    "required": ["email"]
                }
            },
            "recurrence": {
                "type": "object",
                "properties": {
                    "every": {"type": "string", "enum": ["day", "week", "month", "year"]},
                    "interval": {"type": "integer", "exclusiveMinimum": 0},
                    "weekdays": {"type": "array", "items": {"type": "string", "enum": ["mo", "tu", "we", "th", "fr", "sa", "su"]}, "uniqueItems": true},
                    "until": {"type": ["string", "null"], "format": "date"}
                },
                "required": ["every"]
            },
            "reminder": {"type": "string", "format": "duration", "description": "How long before, as in ISO 8601."},
            "meeting_url": {"type": "string", "format": "uri"},
            "room": {"type": "string", "description": format!("A room of {area}, by its name on the door.")},
            "visibility": {"type": "string", "enum": ["public", "private", "busy"]}
        },
        "required": ["subject", "start", "end"]
    })
}

/// A tagged union, an untagged one and a condition.
pub(super) fn payment(topic: &SchemaTopic) -> Value {
    let SchemaTopic { noun, area, .. } = topic;
    json!({
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": format!("The {noun} that is paid for.")},
            "amount": {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.01},
            "currency": {"type": "string", "enum": topic.take_prefix(&["EUR", "USD", "GBP", "CHF", "SEK", "PLN"])},
            "method": {
                "description": "How it is paid.",
                "oneOf": [
                    {
                        "type": "object",
                        "properties": {
                            "kind": {"const": "card"},
                            "token": {"type": "string", "pattern": "^tok_[A-Za-z0-9]{16}$"},
                            "three_d_secure": {"type": "boolean"}
                        },
                        "required": ["kind", "token"]
                    },
                    {
                        "type": "object",
                        "properties": {
                            "kind": {"const": "transfer"},
                            "iban": {"type": "string", "minLength": 15, "maxLength": 34},
                            "mandate": {"type": ["string", "null"]}
                        },
                        "required": ["kind", "iban"]
                    },
                    {
                        "type": "object",
                        "properties": {
                            "kind": {"const": "voucher"},
                            "codes": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 5}
                        },
                        "required": ["kind", "codes"]
                    }
                ]
            },
            "due": {"anyOf": [{"type": "string", "format": "date"}, {"type": "integer", "description": "Days from today.", "minimum": 0}]},
            "split": {"type": "array", "items": {"type": "number", "minimum": 0, "maximum": 1}, "description": format!("Shares of the cost centres of {area}.")},
            "idempotency_key": {"type": "string", "format": "uuid"},
            "receipt_to": {"type": "string", "format": "email"},
            "capture": {"type": "boolean"}
        },
        "required": ["id", "amount", "currency", "method"]
    })
}

/// Objects in objects, five deep.
pub(super) fn config(topic: &SchemaTopic) -> Value {
    let SchemaTopic { noun, area, .. } = topic;
    json!({
        "type": "object",
        "properties": {
            "environment": {"type": "string", "enum": ["development", "staging", "production"]},
            "enabled": {"type": "boolean"},
            "service": {
                "type": "object",
                "description": format!("How the {noun} service of {area} is run."),
                "properties": {
                    "replicas": {"type": "integer", "minimum": 0, "maximum": 64},
                    "network": {
                        "type": "object",
                        "properties": {
                            "host": {"type": "string", "format": "hostname"},
                            "port": {"type": "integer", "minimum": 1, "maximum": 65535},
                            "tls": {
                                "type": "object",
                                "properties": {
                                    "enabled": {"type": "boolean", "default": true},
                                    "min_version": {"type": "string", "enum": ["1.2", "1.3"]},
                                    "ciphers": {"type": "array", "items": {"type": "string"}}
                                }
                            }
                        },
                        "required": ["host", "port"]
                    },
                    "limits": {
                        "type": "object",
                        "properties": {
                            "cpu": {"type": "number", "exclusiveMinimum": 0},
                            "memory_mb": {"type": "integer", "minimum": 16, "multipleOf": 16}
                        }
                    }
                },
                "required": ["network"]
            },
            "retry": {
                "type": "object",
                "properties": {
                    "attempts": {"type": "integer", "minimum": 0, "maximum": 10, "default": 3},
                    "backoff_ms": {"type": "array", "items": {"type": "integer", "minimum": 0}, "maxItems": 10}
                }
            },
            "log_level": {"type": "string", "enum": ["trace", "debug", "info", "warn", "error"], "default": "info"},
            "owner_team": {"type": "string", "description": format!("The team in {area} that is called at night.")},
            "rollout_percent": {"type": "number", "minimum": 0, "maximum": 100}
        },
        "required": ["environment", "service"]
    })
}

/// Objects with arbitrary keys.
pub(super) fn maps(topic: &SchemaTopic) -> Value {
    let SchemaTopic { noun, area, .. } = topic;
    json!({
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": format!("The {noun} that is labelled.")},
            "labels": {"type": "object", "description": "Any names with short texts.", "additionalProperties": {"type": "string", "maxLength": 63}},
            "metrics": {"type": "object", "additionalProperties": {"type": "number"}},
            "translations": {
                "type": "object",
                "description": "By language, e.g. `de` or `pt-BR`.",
                "propertyNames": {"pattern": "^[a-z]{2}(-[A-Z]{2})?$"},
                "additionalProperties": {
                    "type": "object",
                    "properties": {
                        "title": {"type": "string"},
                        "summary": {"type": "string", "maxLength": 500}
                    },
                    "required": ["title"]
                },
                "minProperties": 1
            },
            "annotations": {"type": "object", "description": format!("Whatever {area} keeps with it.")},
            "headers": {"type": "object", "patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": false},
            "merge": {"type": "string", "enum": ["replace", "merge", "keep"]},
            "remove": {"type": "array", "items": {"type": "string"}, "description": "Names of labels to take away."},
            "version": {"type": "integer", "minimum": 0, "description": "Refused if it was changed since."}
        },
        "required": ["id"]
    })
}

/// Tuples: lists with a schema per index.
pub(super) fn tuples(topic: &SchemaTopic) -> Value {
    let SchemaTopic { noun, area, .. } = topic;
    json!({
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": format!("The {noun} that is on its way.")},
            "origin": {
                "type": "array",
                "description": "Longitude and latitude.",
                "prefixItems": [
                    {"type": "number", "minimum": -180, "maximum": 180},
                    {"type": "number", "minimum": -90, "maximum": 90}
                ],
                "items": false,
                "minItems": 2
            },
            "destination": {
                "type": "array",
                "prefixItems": [
                    {"type": "number", "minimum": -180, "maximum": 180},
                    {"type": "number", "minimum": -90, "maximum": 90}
                ],
                "items": false,
                "minItems": 2
            },
            "stops": {
                "type": "array",
                "maxItems": 20,
                "items": {
                    "type": "array",
                    "prefixItems": [{"type": "string", "description": "The name of the stop."}, {"type": "integer", "description": "Minutes to stay.", "minimum": 0}],
                    "items": false,
                    "minItems": 2,
                    "maxItems": 2
                }
            },
            "vehicle": {"type": "string", "enum": topic.take_prefix(&["bike", "car", "van", "truck", "train", "ship", "plane"])},
            "avoid": {"type": "array", "items": {"type": "string", "enum": ["tolls", "ferries", "motorways", "borders"]}, "uniqueItems": true},
            "departure": {"type": "string", "format": "date-time"},
            "weight_kg": {"type": "number", "minimum": 0, "maximum": 40_000},
            "cooled": {"type": "boolean"},
            "carrier": {"type": ["string", "null"], "description": format!("One that {area} has a contract with.")}
        },
        "required": ["id", "origin", "destination"]
    })
}

/// A condition made of conditions.
pub(super) fn recursive(topic: &SchemaTopic) -> Value {
    let SchemaTopic { noun, area, .. } = topic;
    json!({
        "type": "object",
        "properties": {
            "where": {"$ref": "#/$defs/condition", "description": format!("Which {noun} is meant.")},
            "columns": {"type": "array", "items": {"type": "string"}, "minItems": 1},
            "group_by": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
            "limit": {"type": "integer", "minimum": 1, "maximum": 10_000},
            "view": {"type": "string", "description": format!("A saved view of {area} to start from.")},
            "format": {"type": "string", "enum": ["table", "csv", "json"]},
            "include_archived": {"type": "boolean"}
        },
        "required": ["where"],
        "$defs": {
            "condition": {
                "anyOf": [
                    {
                        "type": "object",
                        "properties": {
                            "all": {"type": "array", "items": {"$ref": "#/$defs/condition"}, "minItems": 1}
                        },
                        "required": ["all"],
                        "additionalProperties": false
                    },
                    {
                        "type": "object",
                        "properties": {
                            "not": {"$ref": "#/$defs/condition"}
                        },
                        "required": ["not"],
                        "additionalProperties": false
                    },
                    {
                        "type": "object",
                        "properties": {
                            "column": {"type": "string"},
                            "op": {"type": "string", "enum": ["=", "!=", "<", "<=", ">", ">=", "in", "like"]},
                            "value": {"type": ["string", "number", "boolean", "null"]}
                        },
                        "required": ["column", "op", "value"],
                        "additionalProperties": false
                    }
                ]
            }
        }
    })
}
