//! `toolwright tools search`, and `toolwright mcp --search` over real servers.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Value, json};
use test_support::real;

/// Runs `tools search` with a text on stdin: exit code, stdout, stderr.
fn search(arguments: &[&str], stdin: &str) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwright"));
    command.args(["tools", "search"]).args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that reads nothing may have ended.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn schema() -> Value {
    json!({"type": "object", "properties": {"city": {"type": "string"}}})
}

/// The same two tools in the shape of each provider.
fn shapes() -> Vec<Value> {
    let tools = [
        ("get.forecast", "Returns the weather forecast.\nUp to ten days."),
        ("book_flight", "Books a flight."),
    ];
    let each = |shape: fn(&str, &str) -> Value| -> Vec<Value> {
        tools.iter().map(|(name, description)| shape(name, description)).collect()
    };
    let openai = each(|name, description| {
        let function = json!({"name": name, "description": description, "parameters": schema()});
        json!({"type": "function", "function": function})
    });
    let anthropic = each(
        |name, description| json!({"name": name, "description": description, "input_schema": schema()}),
    );
    let gemini = each(
        |name, description| json!({"name": name, "description": description, "parameters": schema()}),
    );
    let mcp = each(
        |name, description| json!({"name": name, "description": description, "inputSchema": schema()}),
    );
    vec![
        json!(openai),
        json!({"model": "any", "tools": openai}),
        json!(anthropic),
        json!([{"functionDeclarations": gemini}]),
        json!({"tools": mcp}),
    ]
}

#[test]
fn the_best_tool_comes_first_with_its_score_and_first_line() {
    let definitions = shapes()[0].to_string();
    let (code, out, err) = search(&["--in", "-", "-k", "1", "wether in Oslo"], &definitions);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let (score, rest) = out.trim().split_once("  ").unwrap();
    assert!(score.parse::<f32>().unwrap() > 0.0, "{out}");
    assert_eq!(rest, "get.forecast  Returns the weather forecast.");
}

#[test]
fn json_is_an_array_of_names_and_scores_for_every_shape() {
    for definitions in shapes() {
        let (code, out, err) =
            search(&["--in", "-", "--json", "a", "flight"], &definitions.to_string());
        assert_eq!(code, Some(0), "{err}");
        let found: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(found.as_array().unwrap().len(), 1, "{out}");
        assert_eq!(found[0]["name"], "book_flight");
        assert!(found[0]["score"].as_f64().unwrap() > 0.0);
        assert_eq!(found[0].as_object().unwrap().len(), 2);
    }
}

#[test]
fn nothing_found_is_an_empty_array_or_advice() {
    let definitions = shapes()[0].to_string();
    let found = search(&["--in", "-", "--json", "zebra"], &definitions);
    assert_eq!(found, (Some(0), "[]\n".to_owned(), String::new()));
    let (code, out, err) = search(&["--in", "-", "zebra"], &definitions);
    assert_eq!((code, out.as_str()), (Some(0), ""));
    assert!(err.contains("no tool matches"), "{err}");
}

#[test]
fn without_a_file_the_linked_tools_are_searched() {
    let (code, out, err) = search(&["--json", "what time is it in Tokyo"], "");
    assert_eq!(code, Some(0), "{err}");
    let found: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(found[0]["name"], "get_city_time");
}

#[test]
fn a_definition_that_cannot_be_read_is_reported_and_the_others_are_searched() {
    let definitions = json!([
        {"name": "good", "description": "Sings.", "input_schema": schema()},
        {"name": "bad", "description": "Sings.", "input_schema": {"type": "strng"}},
    ]);
    let (code, out, err) = search(&["--in", "-", "--json", "sing"], &definitions.to_string());
    assert_eq!(code, Some(0));
    assert!(out.contains("good") && !out.contains("bad"), "{out}");
    assert!(err.starts_with("-: /1/input_schema/type: "), "{err}");
}

#[test]
fn mistakes_are_errors_that_name_the_file() {
    let (code, out, err) = search(&["--in", "no-such-file.json", "x"], "");
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(err.starts_with("error: no-such-file.json: "), "{err}");
    let (code, _, err) = search(&["--in", "-", "x"], "not json");
    assert!(code == Some(2) && err.contains("error: -: "), "{err}");
    let (code, _, err) = search(&["--in", "-", "x"], "[]");
    assert!(code != Some(0) && err.contains("error: "), "{err}");
    for wrong in [&["-k", "0", "x"][..], &["-k", "many", "x"], &[]] {
        assert_eq!(search(wrong, "").0, Some(2), "{wrong:?}");
    }
}

#[test]
fn help_teaches_by_example() {
    let (code, out, _) = search(&["--help"], "");
    assert_eq!(code, Some(0));
    assert!(out.contains("tools search --in tools.json -k 3 'book a flight'"), "{out}");
}

/// Here, and not among the tests that attach servers: twenty processes that start at once would slow down those with time limits.
#[test]
fn the_python_sdk_and_the_inspector_search_and_call_the_tools_of_all_real_servers() {
    if !real::is_installed() {
        return;
    }
    let output = real::python("mcp_search.py", &[env!("CARGO_BIN_EXE_toolwright")]);
    print!("{output}");
    assert!(output.contains("all well"), "{output}");
}

/// An Ollama whose vectors mean that coats are about the weather; returns its address and the number of texts of each request.
fn ollama() -> (String, Receiver<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (sender, embedded) = channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let _ = sender.send(answer_embed(&stream.unwrap()));
        }
    });
    (address, embedded)
}

fn answer_embed(mut stream: &TcpStream) -> usize {
    let mut reader = BufReader::new(stream);
    let (mut length, mut line) = (0, String::new());
    while reader.read_line(&mut line).unwrap() > 2 {
        let (name, value) = line.split_once(':').unwrap_or_default();
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap();
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let request: Value = serde_json::from_slice(&body).unwrap();
    let texts = request["input"].as_array().unwrap();
    let about =
        |text: &Value| match ["weather", "coat"].iter().any(|it| text.to_string().contains(it)) {
            true => json!([1.0, 0.1]),
            false => json!([-0.1, 1.0]),
        };
    let body = json!({ "embeddings": texts.iter().map(about).collect::<Vec<_>>() }).to_string();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
    let length = body.len();
    write!(stream, "{head}\r\ncontent-length: {length}\r\n\r\n{body}").unwrap();
    texts.len()
}

/// Searches in a folder, with the vendor at this address: the best match, and stderr.
fn best_in(folder: &Path, vendor: &str, question: &str) -> (Value, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_toolwright"))
        .args(["tools", "search", "--json", "-k", "1", question])
        .current_dir(folder)
        .env("HOME", folder)
        .env("OLLAMA_HOST", vendor)
        .output()
        .unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{err}");
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    (found[0]["name"].clone(), err)
}

#[test]
fn with_embeddings_in_the_settings_tools_are_found_by_meaning_and_their_vectors_are_stored() {
    let folder = tempfile::tempdir().unwrap();
    let settings =
        "store = \"sqlite:vectors.sqlite\"\n[tools]\nsearch_embeddings = \"ollama:coats\"\n";
    std::fs::write(folder.path().join("toolwright.toml"), settings).unwrap();
    let (vendor, embedded) = ollama();
    for round in 0..2 {
        let (best, err) = best_in(folder.path(), &vendor, "Do I need a coat?");
        assert_eq!(best, "get_weather", "{err}");
        let texts: Vec<usize> = embedded.try_iter().collect();
        assert_eq!(texts.len(), 2 - round, "the second time only the question: {texts:?}");
        assert_eq!(texts.last(), Some(&1));
    }
    let nowhere = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (best, _) = best_in(folder.path(), &format!("http://{nowhere}"), "the weather in Oslo");
    assert_eq!(best, "get_weather", "without the vendor, by words");
}

#[test]
fn embeddings_of_a_vendor_that_has_none_are_an_error_that_names_the_setting() {
    let folder = tempfile::tempdir().unwrap();
    for (model, expected) in [("anthropic:claude", "no embeddings"), ("ollama", "VENDOR:MODEL")] {
        let settings = format!("[tools]\nsearch_embeddings = \"{model}\"\n");
        std::fs::write(folder.path().join("toolwright.toml"), settings).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_toolwright"))
            .args(["tools", "search", "x"])
            .current_dir(folder.path())
            .env("HOME", folder.path())
            .output()
            .unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success(), "{model}");
        assert!(err.contains("tools.search_embeddings") && err.contains(expected), "{err}");
    }
}
