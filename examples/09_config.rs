//! Settings: a tool reads its own under a prefix, and `[tools.NAME]` says how its calls are treated.
//!
//! ```console
//! $ cargo run -q --example 09_config
//! ```

use std::error::Error;

use toolwright::{Config, Invoker, Registry, Sources, ToolCall, ToolError, tool};

/// What a user would write; `TOOLWRIGHT_EXAMPLE_GREETING` would count before it.
const TOML: &str = r#"
[example]
greeting = "Good morning"
api_key = "not-for-everybody"

[tools.example_tool]
approval = "always"

[defaults]
timeout = "5s"
"#;

/// Greets somebody as the settings say.
#[tool(read_only)]
fn example_tool(name: String, config: Config) -> Result<String, ToolError> {
    let config = config.section("example");
    let greeting: String = config.get("greeting")?;
    let times = config.get_or("times", 1)?;
    Ok(format!("{greeting}, {name}!").repeat(times))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let project = tempfile::tempdir()?;
    std::fs::write(project.path().join("toolwright.toml"), TOML)?;
    let sources = Sources::new()
        .defaults([("example.greeting", "Hello"), ("example.times", "2")])
        .directory(project.path());
    let config = Config::load(sources)?.config;
    for setting in config.entries() {
        println!("{setting}");
    }

    let registry = Registry::new();
    registry.add(example_tool::tool())?;
    let invoker = Invoker::builder(&registry).config(config.clone()).build()?;
    let snapshot = invoker.snapshot()?;
    let entry = snapshot.get("example_tool").ok_or("it was just added")?;
    println!("timeout: {:?}, asked first: {}", entry.policy().timeout, entry.needs_approval());

    let call = ToolCall::new("example_tool", r#"{"name": "Ada"}"#);
    println!("-> {}", invoker.invoke(&call).await.text());
    // The same tool where nobody need be asked.
    let sources = Sources::new().defaults([("example.greeting", "Hello")]);
    let invoker = Invoker::builder(&registry).config(Config::load(sources)?.config).build()?;
    println!("-> {}", invoker.invoke(&call).await.text());

    // A setting for a tool that is not there would protect nothing.
    let sources = Sources::new().defaults([("tools.exmaple_tool.approval", "always")]);
    let misspelt = Invoker::builder(&registry).config(Config::load(sources)?.config).build();
    println!("{}", misspelt.err().ok_or("it should be refused")?);
    Ok(())
}
