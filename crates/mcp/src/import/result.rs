//! The result of a server in, a [`ToolResult`] out.

use serde_json::Value;
use toolwright_core::schema::{Schema, Tape};
use toolwright_core::{Content, ToolResult};

/// Converts a result, whose content has the same format as ours; `output` is the output schema of the tool. `None` if it is no
/// result.
pub(crate) fn convert_result(mut received: Value, output: Option<&Schema>) -> Option<ToolResult> {
    let Value::Array(items) = received.get_mut("content")?.take() else {
        return None;
    };
    let received_count = items.len();
    let content = items.into_iter().filter_map(|item| serde_json::from_value(item).ok());
    let mut content: Vec<Content> = content.collect();
    let mut notes = match received_count - content.len() {
        0 => Vec::new(),
        unknown => vec![format!("{unknown} items of kinds we do not know are left out")],
    };
    let failed = received.get("isError").and_then(Value::as_bool) == Some(true);
    let structured = received.get_mut("structuredContent").map(Value::take).filter(|value| {
        let is_valid =
            output.is_none_or(|output| output.is_valid(Tape::from_value(value).root_lenient()));
        if !is_valid && !failed {
            notes.push(
                "the structured result is left out: it is not what the tool declares".to_owned(),
            );
        }
        is_valid
    });
    // Some clients read the content only, which must not be empty then.
    if let (true, Some(value)) = (content.is_empty(), &structured) {
        content.push(Content::text(value.to_string()));
    }
    let mut result = match failed {
        true if content.is_empty() => {
            ToolResult::failure("the server reports that the tool failed, and nothing else")
        }
        true => ToolResult::failure(content),
        false => ToolResult::success(content),
    };
    if let Some(value) = structured {
        result = result.with_structured(value);
    }
    result.notes = notes;
    Some(result)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolwright_core::Outcome;

    use super::*;

    fn read(received: Value, output: Option<Value>) -> ToolResult {
        let output = output.map(|schema| Schema::check(schema).unwrap());
        convert_result(received, output.as_ref()).unwrap()
    }

    #[test]
    fn every_kind_of_content_is_converted() {
        let received = json!([
            {"type": "text", "text": "hello", "annotations": {"priority": 1.0}},
            {"type": "image", "data": "iVBO", "mimeType": "image/png"},
            {"type": "audio", "data": "UklG", "mimeType": "audio/wav"},
            {"type": "resource", "resource": {"uri": "a:b", "text": "body", "mimeType": "text/plain"}},
            {"type": "resource", "resource": {"uri": "a:c", "blob": "AAAA"}},
            {"type": "resource_link", "uri": "a:d", "name": "d"}
        ]);
        let result = read(json!({"content": received}), None);
        let kinds: Vec<&str> = result
            .content
            .iter()
            .map(|item| match item {
                Content::Text { .. } => "text",
                Content::Image { .. } => "image",
                Content::Audio { .. } => "audio",
                Content::Resource { .. } => "resource",
                Content::Link { .. } => "link",
                _ => "other",
            })
            .collect();
        assert_eq!(kinds, ["text", "image", "audio", "resource", "resource", "link"]);
    }

    #[test]
    fn a_failed_tool_is_a_failed_result() {
        let result =
            read(json!({"content": [{"type": "text", "text": "no paper"}], "isError": true}), None);
        assert_eq!((result.outcome, &*result.text()), (Outcome::Failed, "no paper"));
        assert!(!read(json!({"content": [], "isError": true}), None).text().is_empty());
    }

    #[test]
    fn a_structured_result_alone_is_content_too() {
        let result = read(json!({"content": [], "structuredContent": {"n": 1}}), None);
        assert_eq!(result.text(), r#"{"n":1}"#);
        assert_eq!(result.structured.unwrap().as_str(), r#"{"n":1}"#);
    }

    #[test]
    fn a_structured_result_that_does_not_match_its_schema_is_left_out() {
        let output = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
        let received =
            json!({"content": [{"type": "text", "text": "x"}], "structuredContent": {"n": "one"}});
        let result = read(received, Some(output));
        assert!(result.structured.is_none() && result.notes.len() == 1, "{result:?}");
    }

    #[test]
    fn content_of_unknown_kinds_is_left_out_with_a_note() {
        let received = json!({"content": [{"type": "hologram"}, {"type": "text", "text": "x"}]});
        let result = convert_result(received, None).unwrap();
        assert_eq!((&*result.text(), result.notes.len()), ("x", 1));
        assert!(convert_result(json!({"answer": 42}), None).is_none());
    }
}
