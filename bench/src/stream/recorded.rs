//! Generates the frames of a protocol, with all fields that its vendor sends.

#![expect(
    clippy::indexing_slicing,
    reason = "JSON that is written here has the fields that are written here"
)]

use serde_json::{Value, json};

use super::{ARGUMENTS, CALL_ID, TOOL_NAME, argument_deltas, text_deltas};

/// The frames of an answer, which calls the tool at its end or not.
pub fn recorded_frames(vendor: &str, calls: bool) -> Vec<String> {
    match vendor {
        "openai" => openai_responses_frames(calls),
        "openai-chat" => openai_chat_frames(calls),
        "anthropic" => anthropic_frames(calls),
        "gemini" => gemini_frames(calls),
        _ => ollama_frames(calls),
    }
}

fn sse_event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap())
}

fn openai_responses_frames(calls: bool) -> Vec<String> {
    let mut frames = Vec::new();
    let mut push_event = |kind: &str, fields: Value| {
        let mut data = json!({"type": kind, "sequence_number": frames.len()});
        for (name, value) in fields.as_object().unwrap() {
            data[name] = value.clone();
        }
        frames.push(sse_event(&data));
    };
    let response = |status: &str, output: Value| {
        json!({"id": "resp_68a1", "object": "response", "created_at": 1763200000, "status": status, "error": null,
            "incomplete_details": null, "instructions": null, "model": "gpt-5-2025-08-07", "output": output,
            "parallel_tool_calls": true, "temperature": 1.0, "tool_choice": "auto", "truncation": "disabled",
            "usage": {"input_tokens": 81, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 531,
                "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 612}, "metadata": {}})
    };
    let message = |status: &str, content: Value| json!({"id": "msg_68a1", "type": "message", "status": status, "content": content, "role": "assistant"});
    let call = |status: &str, arguments: &str| json!({"id": "fc_68a1", "type": "function_call", "status": status, "arguments": arguments, "call_id": CALL_ID, "name": TOOL_NAME});
    let part = |text: &str| json!({"type": "output_text", "annotations": [], "logprobs": [], "text": text});
    let text: String = text_deltas().collect();

    push_event("response.created", json!({"response": response("in_progress", json!([]))}));
    push_event("response.in_progress", json!({"response": response("in_progress", json!([]))}));
    push_event(
        "response.output_item.added",
        json!({"output_index": 0, "item": message("in_progress", json!([]))}),
    );
    let place = json!({"item_id": "msg_68a1", "output_index": 0, "content_index": 0});
    let at = |more: Value| {
        let mut fields = place.clone();
        for (name, value) in more.as_object().unwrap() {
            fields[name] = value.clone();
        }
        fields
    };
    push_event("response.content_part.added", at(json!({"part": part("")})));
    for piece in text_deltas() {
        push_event(
            "response.output_text.delta",
            at(json!({"delta": piece, "logprobs": [], "obfuscation": "x8fK2mQ"})),
        );
    }
    push_event("response.output_text.done", at(json!({"text": text, "logprobs": []})));
    push_event("response.content_part.done", at(json!({"part": part(&text)})));
    let message = message("completed", json!([part(&text)]));
    push_event("response.output_item.done", json!({"output_index": 0, "item": message}));
    let mut output = vec![message];
    if calls {
        push_event(
            "response.output_item.added",
            json!({"output_index": 1, "item": call("in_progress", "")}),
        );
        for piece in argument_deltas() {
            push_event(
                "response.function_call_arguments.delta",
                json!({"item_id": "fc_68a1", "output_index": 1, "delta": piece, "obfuscation": "x8fK2mQ"}),
            );
        }
        push_event(
            "response.function_call_arguments.done",
            json!({"item_id": "fc_68a1", "output_index": 1, "arguments": ARGUMENTS}),
        );
        let call = call("completed", ARGUMENTS);
        push_event("response.output_item.done", json!({"output_index": 1, "item": call}));
        output.push(call);
    }
    push_event("response.completed", json!({"response": response("completed", json!(output))}));
    frames
}

fn openai_chat_frames(calls: bool) -> Vec<String> {
    let chunk = |choices: Value, usage: Value| {
        let data = json!({"id": "chatcmpl-68a1", "object": "chat.completion.chunk", "created": 1763200000,
            "model": "gpt-5-2025-08-07", "service_tier": "default", "system_fingerprint": null,
            "choices": choices, "usage": usage, "obfuscation": "x8fK2mQ"});
        format!("data: {data}\n\n")
    };
    let delta_chunk = |delta: Value, finish: Option<&str>| {
        chunk(
            json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]),
            Value::Null,
        )
    };
    let mut frames =
        vec![delta_chunk(json!({"role": "assistant", "content": "", "refusal": null}), None)];
    frames.extend(text_deltas().map(|piece| delta_chunk(json!({"content": piece}), None)));
    if calls {
        let head = json!({"index": 0, "id": CALL_ID, "type": "function", "function": {"name": TOOL_NAME, "arguments": ""}});
        frames.push(delta_chunk(json!({"tool_calls": [head]}), None));
        frames.extend(argument_deltas().map(|piece| {
            let more = json!({"index": 0, "function": {"arguments": piece}});
            delta_chunk(json!({"tool_calls": [more]}), None)
        }));
    }
    frames.push(delta_chunk(json!({}), Some(if calls { "tool_calls" } else { "stop" })));
    frames.push(chunk(
        json!([]),
        json!({"prompt_tokens": 81, "completion_tokens": 531, "total_tokens": 612,
            "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0,
                "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0}}),
    ));
    frames.push("data: [DONE]\n\n".to_owned());
    frames
}

fn anthropic_frames(calls: bool) -> Vec<String> {
    let mut frames = vec![sse_event(
        &json!({"type": "message_start", "message": {"id": "msg_68a1", "type": "message",
        "role": "assistant", "model": "claude-sonnet-4-5", "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": 81, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 1}}}),
    )];
    let mut block = |index: usize, begun: Value, deltas: Vec<Value>| {
        frames.push(sse_event(
            &json!({"type": "content_block_start", "index": index, "content_block": begun}),
        ));
        for delta in deltas {
            frames.push(sse_event(
                &json!({"type": "content_block_delta", "index": index, "delta": delta}),
            ));
        }
        frames.push(sse_event(&json!({"type": "content_block_stop", "index": index})));
    };
    let texts = text_deltas().map(|piece| json!({"type": "text_delta", "text": piece}));
    block(0, json!({"type": "text", "text": ""}), texts.collect());
    if calls {
        let inputs = argument_deltas()
            .map(|piece| json!({"type": "input_json_delta", "partial_json": piece}));
        let begun = json!({"type": "tool_use", "id": CALL_ID, "name": TOOL_NAME, "input": {}});
        block(1, begun, inputs.collect());
    }
    let reason = if calls { "tool_use" } else { "end_turn" };
    frames.push(sse_event(
        &json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null},
        "usage": {"output_tokens": 531}}),
    ));
    frames.push(sse_event(&json!({"type": "message_stop"})));
    frames
}

fn gemini_frames(calls: bool) -> Vec<String> {
    let chunk = |part: Value, finish: Option<&str>| {
        let mut candidate = json!({"content": {"parts": [part], "role": "model"}, "index": 0});
        if let Some(finish) = finish {
            candidate["finishReason"] = json!(finish);
        }
        let data = json!({"candidates": [candidate],
            "usageMetadata": {"promptTokenCount": 81, "candidatesTokenCount": 531, "totalTokenCount": 612,
                "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 81}]},
            "modelVersion": "gemini-3-pro", "responseId": "q8sYabCdEf"});
        format!("data: {data}\r\n\r\n")
    };
    let mut frames: Vec<String> =
        text_deltas().map(|piece| chunk(json!({"text": piece}), None)).collect();
    if calls {
        let args: Value = serde_json::from_str(ARGUMENTS).unwrap();
        let call = json!({"functionCall": {"id": CALL_ID, "name": TOOL_NAME, "args": args}});
        frames.push(chunk(call, None));
    }
    frames.push(chunk(json!({"text": ""}), Some("STOP")));
    frames
}

fn ollama_frames(calls: bool) -> Vec<String> {
    let line = |message: Value| {
        let data = json!({"model": "qwen3", "created_at": "2026-11-15T12:00:00.123456789Z", "message": message, "done": false});
        format!("{data}\n")
    };
    let text_line = |delta| line(json!({"role": "assistant", "content": delta}));
    let mut frames: Vec<String> = text_deltas().map(text_line).collect();
    if calls {
        let arguments: Value = serde_json::from_str(ARGUMENTS).unwrap();
        let call = json!({"id": CALL_ID, "function": {"index": 0, "name": TOOL_NAME, "arguments": arguments}});
        frames.push(line(json!({"role": "assistant", "content": "", "tool_calls": [call]})));
    }
    let last = json!({"model": "qwen3", "created_at": "2026-11-15T12:00:01.123456789Z",
        "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop",
        "total_duration": 4883583458_u64, "load_duration": 1334875, "prompt_eval_count": 81,
        "prompt_eval_duration": 342546000, "eval_count": 531, "eval_duration": 4535599000_u64});
    frames.push(format!("{last}\n"));
    frames
}
