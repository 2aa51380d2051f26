//! The least that could answer: the bytes of the right answer, for whatever is asked.
//!
//! Over HTTP that is axum, which reads the request to its end; over lines, a loop without a runtime.

use std::io::{BufRead as _, Write as _};

use axum::{Router, body::Bytes, http::header, routing::post};
use schemars::schema_for;
use serde_json::{Value, json};
use toolwright_bench::sum;

use super::{ADD, listen, others, page};
use crate::{contender::Way, load::Load};

pub async fn serve(way: Way, load: &Load) {
    let answer = json!({ "jsonrpc": "2.0", "id": 1_000_000, "result": result(load) });
    let answer = answer.to_string();
    match way {
        Way::Http => {
            let answer = Bytes::from(answer);
            let respond = move |_asked: Bytes| async move {
                ([(header::CONTENT_TYPE, "application/json")], answer)
            };
            let app = Router::new().route("/mcp", post(respond));
            axum::serve(listen().await, app).await.unwrap();
        }
        Way::Stdio => {
            let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
            let (mut line, answer) = (Vec::new(), answer + "\n");
            while input.read_until(b'\n', &mut line).unwrap() > 0 {
                output.write_all(answer.as_bytes()).unwrap();
                line.clear();
            }
        }
    }
}

fn result(load: &Load) -> Value {
    let text = |text: String| json!({ "content": [{ "type": "text", "text": text }] });
    match load.tool {
        Some("add") => text("5".to_owned()),
        Some(_) => text(page()),
        None => {
            let tool = |name: String| {
                let schema = schema_for!(sum::Args);
                json!({ "name": name, "description": ADD, "inputSchema": schema })
            };
            let names = ["add".to_owned(), "page".to_owned()];
            let names = names.into_iter().chain(others(load.tools));
            json!({ "tools": names.map(tool).collect::<Vec<_>>() })
        }
    }
}
