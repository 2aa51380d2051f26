//! The least that could answer: the bytes of the right answer, for whatever is asked.
//!
//! Over HTTP that is axum, which reads the request to its end; over lines, a loop without a runtime.

use std::io::{BufRead as _, Write as _};

use axum::{Router, body::Bytes, http::header, routing::post};
use schemars::schema_for;
use serde_json::{Value, json};
use toolwright_bench::sum;

use super::{ADD, bind_listener, extra_tool_names, page};
use crate::{
    servers::Transport,
    workload::{TEMPERATURE, Workload},
};

pub async fn serve(way: Transport, load: &Workload) {
    let answer = json!({ "jsonrpc": "2.0", "id": 1_000_000, "result": canned_result(load) });
    let answer = answer.to_string();
    match way {
        Transport::Http => {
            let answer = Bytes::from(answer);
            let respond = move |_asked: Bytes| async move {
                ([(header::CONTENT_TYPE, "application/json")], answer)
            };
            let app = Router::new().route("/mcp", post(respond));
            axum::serve(bind_listener().await, app).await.unwrap();
        }
        Transport::Stdio => {
            let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
            let (mut line, answer) = (Vec::new(), answer + "\n");
            while input.read_until(b'\n', &mut line).unwrap() > 0 {
                output.write_all(answer.as_bytes()).unwrap();
                line.clear();
            }
        }
    }
}

fn canned_result(load: &Workload) -> Value {
    let text = |text: String| json!({ "content": [{ "type": "text", "text": text }] });
    match load.tool {
        Some("add") => text("5".to_owned()),
        Some("convert_temperature") => text(TEMPERATURE.to_owned()),
        Some(_) => text(page()),
        None => {
            let tool = |name: String| {
                let schema = schema_for!(sum::Args);
                json!({ "name": name, "description": ADD, "inputSchema": schema })
            };
            let names = ["add", "page", "convert_temperature"].map(str::to_owned);
            let names = names.into_iter().chain(extra_tool_names(load.tools));
            json!({ "tools": names.map(tool).collect::<Vec<_>>() })
        }
    }
}
