//! One bundle, unchanged, gives the same results however it is called.

use serde_json::{Value, json};
use toolwright::ToolCall;

use crate::stdio::peer;
use crate::support::{initialize, modern, modern_body, open, post, request, send, serve};
use crate::tools::{kit, server};

#[tokio::test]
async fn a_direct_call_and_every_transport_and_era_agree() {
    let kit = kit();
    let server = server(&kit).build().unwrap();
    let served = serve(&server).await;
    let session = open(served.addr, "2025-11-25", json!({})).await;
    let mut modern_lines = peer(&server);
    let mut lines = peer(&server);
    lines.ask(initialize("2025-11-25", json!({}))).await;
    for (name, arguments) in [
        ("add", json!({ "a": 2, "b": 3 })),
        ("add", json!({ "a": "2", "b": 3 })),
        ("add", json!({ "a": 2, "c": 3 })),
        ("sum", json!({ "numbers": [1, 2, 3] })),
        ("below", json!({ "n": 3 })),
        ("mixed", json!({})),
        ("fail", json!({})),
        ("erase", json!({ "path": "/" })),
    ] {
        let direct = kit.invoker.invoke(&ToolCall::new(name, &arguments)).await;
        let content = serde_json::to_value(&direct.content).unwrap();
        let structured = direct.structured.as_ref().map(|it| it.to_value());
        let params = json!({ "name": name, "arguments": arguments });
        let call = request(1, "tools/call", params.clone());
        let in_session = post(served.addr, &[("Mcp-Session-Id", &session)], &call)
            .await
            .json();
        let results = [
            (
                "HTTP",
                send(served.addr, modern(1, "tools/call", params.clone()))
                    .await
                    .json(),
            ),
            ("HTTP, a session", in_session),
            (
                "lines",
                modern_lines
                    .ask(modern_body(1, "tools/call", params.clone(), json!({})))
                    .await,
            ),
            ("lines, a session", lines.ask(call).await),
        ];
        for (way, said) in results {
            let result = &said["result"];
            assert_eq!(result["content"], content, "{name} over {way}: {said}");
            let failed = result.get("isError") == Some(&Value::Bool(true));
            assert_eq!(failed, direct.is_error(), "{name} over {way}");
            let got = result.get("structuredContent").cloned();
            let expected = structured
                .clone()
                .map(|value| match way.contains("session") {
                    true if !value.is_object() => json!({ "result": value }),
                    _ => value,
                });
            assert_eq!(got, expected, "{name} over {way}");
        }
    }
}
