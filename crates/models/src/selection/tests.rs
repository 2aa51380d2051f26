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

async fn by_name_error(name: &str, config: &Config) -> String {
    by_name(name, config).await.err().unwrap().message
}

#[tokio::test]
async fn the_first_key_in_order_decides() {
    let keys = [("ANTHROPIC_API_KEY", "a"), ("GEMINI_API_KEY", "g")];
    let selected = from_config(&config(&[], &keys)).await.unwrap();
    assert_eq!(id(&selected), "anthropic:claude-sonnet-5");
    assert_eq!(selected.reason.to_string(), "ANTHROPIC_API_KEY is set");
    let keys = [("OPENAI_API_KEY", "  "), ("GEMINI_API_KEY", "g")];
    let selected = from_config(&config(&[], &keys)).await.unwrap();
    assert_eq!(id(&selected), "gemini:gemini-3.5-flash");
}

#[tokio::test]
async fn what_is_named_wins_over_keys() {
    let settings = [("model", "ollama:qwen3")];
    let selected = from_config(&config(&settings, &[("OPENAI_API_KEY", "k")])).await.unwrap();
    assert_eq!(id(&selected), "ollama:qwen3");
    assert_eq!(selected.reason.to_string(), "chosen by default");
}

#[tokio::test]
async fn without_anything_it_is_the_demo() {
    let selected = from_config(&config(&[], &[])).await.unwrap();
    assert_eq!((&*id(&selected), selected.reason), ("demo", SelectionReason::NoApiKey));
}

#[tokio::test]
async fn a_vendor_alone_means_the_model_that_is_set_for_it() {
    let config = config(&[("models.groq.model", "kimi")], &[("GROQ_API_KEY", "k")]);
    let model = by_name("groq", &config).await.unwrap();
    assert_eq!(model.id().to_string(), "groq:kimi");
    let message = by_name_error("mistral:", &config).await;
    assert!(message.contains("write mistral:NAME"), "{message}");
    assert!(message.contains("models.mistral.model"), "{message}");
}

#[tokio::test]
async fn an_unknown_vendor_lists_the_nearest_and_all() {
    let message = by_name_error("antropic:claude", &config(&[], &[])).await;
    assert!(message.contains("did you mean `anthropic`?"), "{message}");
    assert!(message.contains("openai, openai-chat"), "{message}");
}

#[tokio::test]
async fn ollama_that_does_not_run_is_named_with_its_address() {
    let message = by_name_error("ollama", &config(&[], &[])).await;
    assert!(message.contains("ollama does not answer at http://127.0.0.1:1"), "{message}");
    assert!(message.contains("`ollama serve`"), "{message}");
}

#[tokio::test]
async fn a_missing_key_names_its_variable() {
    let message = by_name_error("anthropic:claude-sonnet-5", &config(&[], &[])).await;
    assert!(message.contains("ANTHROPIC_API_KEY"), "{message}");
}

#[tokio::test]
async fn the_first_model_of_a_running_ollama_is_used_if_no_key_is_set() {
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
    let selected = from_config(&config).await.unwrap();
    assert_eq!(id(&selected), "ollama:qwen3:8b");
    assert_eq!(selected.reason, SelectionReason::RunningOllama(address));
}

#[tokio::test]
async fn a_list_of_models_is_read_from_text_and_from_a_config_file() {
    let directory = tempfile::tempdir().unwrap();
    for setting in [r#"["ollama:qwen3", "groq:kimi"]"#, r#""ollama:qwen3, groq:kimi""#] {
        let file = directory.path().join("toolwright.toml");
        std::fs::write(&file, format!("model = {setting}\n[models.groq]\nkey = 'k'\n")).unwrap();
        let config = Config::load(ConfigSources::new().file(file)).unwrap().config;
        assert_eq!(id(&from_config(&config).await.unwrap()), "ollama:qwen3");
    }
    let config = config(&[("model", "ollama:qwen3,groq")], &[("GROQ_API_KEY", "k")]);
    let message = from_config(&config).await.err().unwrap().message;
    assert!(message.starts_with("default: `groq` needs the name of a model"), "{message}");
}
