//! Selection of the model, and its errors.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;

use toolwright_core::ConfigSources;

use super::*;

fn config(settings: &[(&str, &str)], variables: &[(&str, &str)]) -> Config {
    let variables = variables.iter().copied();
    // A port without a listener.
    let no_ollama = [("OLLAMA_HOST", "http://127.0.0.1:1")];
    let variables = no_ollama.into_iter().chain(variables);
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let sources = ConfigSources::new()
        .defaults(settings.iter().copied())
        .environment(variables.collect::<Vec<_>>());
    Config::load(sources).unwrap().config
}

fn id(selected: &SelectedModel) -> String {
    selected.model.id().to_string()
}

fn resolve_error(name: &str, config: &Config) -> String {
    resolve_model(name, config, String::new()).err().unwrap()
}

#[test]
fn the_first_key_in_order_decides() {
    let keys = [("ANTHROPIC_API_KEY", "a"), ("GEMINI_API_KEY", "g")];
    let selected = select_model(&config(&[], &keys)).unwrap();
    assert_eq!(id(&selected), "anthropic:claude-sonnet-5");
    assert!(selected.reason.starts_with("ANTHROPIC_API_KEY is set"));
    let keys = [("OPENAI_API_KEY", "  "), ("GEMINI_API_KEY", "g")];
    let selected = select_model(&config(&[], &keys)).unwrap();
    assert_eq!(id(&selected), "gemini:gemini-3.5-flash");
}

#[test]
fn what_is_named_wins_over_keys() {
    let settings = [("model", "ollama:qwen3")];
    let selected = select_model(&config(&settings, &[("OPENAI_API_KEY", "k")])).unwrap();
    assert_eq!(id(&selected), "ollama:qwen3");
    assert_eq!(selected.reason, "chosen by default");
}

#[test]
fn without_anything_it_is_the_demo_and_says_so() {
    let selected = select_model(&config(&[], &[])).unwrap();
    assert_eq!(selected.reason, "no key is set; set OPENAI_API_KEY or pass --model");
}

#[test]
fn a_vendor_alone_means_the_model_that_is_set_for_it() {
    let config = config(&[("models.groq.model", "kimi")], &[("GROQ_API_KEY", "k")]);
    let selected = resolve_model("groq", &config, String::new()).unwrap();
    assert_eq!(id(&selected), "groq:kimi");
    let message = resolve_error("mistral:", &config);
    assert!(message.contains("write mistral:NAME"), "{message}");
    assert!(message.contains("models.mistral.model"), "{message}");
}

#[test]
fn an_unknown_vendor_lists_the_nearest_and_all() {
    let message = resolve_error("antropic:claude", &config(&[], &[]));
    assert!(message.contains("did you mean `anthropic`?"), "{message}");
    assert!(message.contains("demo, openai"), "{message}");
}

#[test]
fn a_missing_key_names_its_variable() {
    let message = resolve_error("anthropic:claude-sonnet-5", &config(&[], &[]));
    assert!(message.contains("ANTHROPIC_API_KEY"), "{message}");
}

#[test]
fn the_first_model_of_a_running_ollama_is_used_if_no_key_is_set() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            let request = BufReader::new(&stream).lines().map(Result::unwrap);
            let head: Vec<_> = request.take_while(|line| !line.is_empty()).collect();
            assert_eq!(head[0], "GET /api/tags HTTP/1.1");
            let body = r#"{"models":[{"name":"qwen3:8b"},{"name":"llama3"}]}"#;
            let length = body.len();
            write!(&stream, "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{body}").unwrap();
        }
    });
    let config = config(&[], &[("OLLAMA_HOST", &address)]);
    let selected = select_model(&config).unwrap();
    assert_eq!(
        selected.summary(),
        format!(
            "ollama:qwen3:8b: Ollama is there ({address}) and no key is set; --model chooses another"
        )
    );
}
