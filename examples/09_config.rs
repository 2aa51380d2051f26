//! Settings: a tool reads its own under a prefix, and `[tools.NAME]` configures its calls.
//!
//! ```console
//! $ cargo run -q --example 09_config
//! defaults.timeout = 5s (toolwright.toml:10)
//! example.api_key = *** (toolwright.toml:4)
//! example.greeting = Good morning (toolwright.toml:3)
//! example.times = 2 (default)
//! tools.example_tool.rate_limit = 1/h (toolwright.toml:7)
//! -> Good morning, Ada! Good morning, Ada!
//! -> `example_tool` was called too often
//! setting `tools.exmaple_tool.approval` (default): there is no tool `exmaple_tool`; did you mean `example_tool`?
//! ```

use std::error::Error;

use toolwright::{Config, ConfigSources, Invoker, Registry, ToolCall, ToolError, json, tool};

/// A config file; the variable `TOOLWRIGHT_EXAMPLE_GREETING` would override it.
const TOML: &str = r#"
[example]
greeting = "Good morning"
api_key = "not-for-everybody"

[tools.example_tool]
rate_limit = "1/h"

[defaults]
timeout = "5s"
"#;

/// Greets a person, with a greeting from the settings.
#[tool(read_only)]
fn example_tool(name: String, config: Config) -> Result<String, ToolError> {
    let config = config.section("example");
    let greeting: String = config.get("greeting")?;
    let times = config.get_or("times", 1)?;
    Ok(format!("{greeting}, {name}! ").repeat(times))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let project = tempfile::tempdir()?;
    std::fs::write(project.path().join("toolwright.toml"), TOML)?;
    let sources = ConfigSources::new()
        .defaults([("example.greeting", "Hello"), ("example.times", "2")])
        .directory(project.path());
    let config = Config::load(sources)?.config;
    for setting in config.entries() {
        println!("{setting}");
    }

    let registry = Registry::of(example_tool::tool())?;
    let invoker = Invoker::builder(&registry).config(config).build()?;
    for name in ["Ada", "Bob"] {
        let call = ToolCall::new("example_tool", json!({ "name": name }));
        let result = invoker.invoke(&call).await;
        // After the colon is the time to wait.
        let text = result.text();
        println!("-> {}", text.split(':').next().unwrap_or_default());
    }

    // A setting for an unknown tool is an error.
    let sources = ConfigSources::new().defaults([("tools.exmaple_tool.approval", "always")]);
    let misspelt = Config::load(sources)?.config;
    if let Err(error) = Invoker::builder(&registry).config(misspelt).build() {
        println!("{error}");
    }
    Ok(())
}
