//! Which model answers, and what is said where none can.

use toolwright_core::ConfigSources;

use super::*;

fn config(settings: &[(&str, &str)], variables: &[(&str, &str)]) -> Config {
    let variables = variables.iter().copied();
    // Nobody listens there.
    let nowhere = [("OLLAMA_HOST", "http://127.0.0.1:1")];
    let variables = nowhere.into_iter().chain(variables);
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let sources = ConfigSources::new()
        .defaults(settings.iter().copied())
        .environment(variables.collect::<Vec<_>>());
    Config::load(sources).unwrap().config
}

fn id(chosen: &SelectedModel) -> String {
    chosen.model.id().to_string()
}

fn resolve_error(wanted: &str, config: &Config) -> String {
    resolve_model(wanted, config, String::new()).err().unwrap()
}

#[test]
fn the_first_key_in_order_decides() {
    let keys = [("ANTHROPIC_API_KEY", "a"), ("GEMINI_API_KEY", "g")];
    let chosen = select_model(&config(&[], &keys)).unwrap();
    assert_eq!(id(&chosen), "anthropic:claude-sonnet-5");
    assert!(chosen.reason.starts_with("ANTHROPIC_API_KEY is set"));
    let keys = [("OPENAI_API_KEY", "  "), ("GEMINI_API_KEY", "g")];
    let chosen = select_model(&config(&[], &keys)).unwrap();
    assert_eq!(id(&chosen), "gemini:gemini-3.5-flash");
}

#[test]
fn what_is_named_wins_over_keys() {
    let settings = [("model", "ollama:qwen3")];
    let chosen = select_model(&config(&settings, &[("OPENAI_API_KEY", "k")])).unwrap();
    assert_eq!(id(&chosen), "ollama:qwen3");
    assert_eq!(chosen.reason, "chosen by default");
}

#[test]
fn without_anything_it_is_the_demo_and_says_so() {
    let chosen = select_model(&config(&[], &[])).unwrap();
    assert_eq!(
        chosen.reason,
        "no key is set; set OPENAI_API_KEY or pass --model"
    );
}

#[test]
fn a_vendor_alone_means_the_model_that_is_set_for_it() {
    let config = config(&[("models.groq.model", "kimi")], &[("GROQ_API_KEY", "k")]);
    let chosen = resolve_model("groq", &config, String::new()).unwrap();
    assert_eq!(id(&chosen), "groq:kimi");
    let told = resolve_error("mistral:", &config);
    assert!(told.contains("write mistral:NAME"), "{told}");
    assert!(told.contains("models.mistral.model"), "{told}");
}

#[test]
fn an_unknown_vendor_is_told_the_nearest_and_all() {
    let told = resolve_error("antropic:claude", &config(&[], &[]));
    assert!(told.contains("did you mean `anthropic`?"), "{told}");
    assert!(told.contains("demo, openai"), "{told}");
}

#[test]
fn a_missing_key_names_its_variable() {
    let told = resolve_error("anthropic:claude-sonnet-5", &config(&[], &[]));
    assert!(told.contains("ANTHROPIC_API_KEY"), "{told}");
}
