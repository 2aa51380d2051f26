//! Prompts are defined like tools, and separate from them.

use serde_json::{Value, json};
use toolwright::{
    Bundle, BundleItem, Caller, Invoker, Outcome, Prompt, Registry, RenderedPrompt, Role, State,
    ToolCall, ToolError, ToolResult, prompt, tool, tools,
};

use crate::call::registry;

/// Renders one prompt of a bundle.
async fn render(
    bundle: impl Bundle,
    name: &str,
    arguments: Value,
) -> Result<RenderedPrompt, ToolResult> {
    let invoker = Invoker::new(registry(bundle)).unwrap();
    invoker.render_prompt(name, arguments).await
}

/// The text of a prompt that must be rendered.
async fn text(bundle: impl Bundle, name: &str, arguments: Value) -> String {
    render(bundle, name, arguments).await.unwrap().text
}

/// Asks for a translation.
///
/// Into any language.
#[prompt(title = "Translate", role = user)]
fn translate(
    /// What to translate.
    text: String,
    #[param(default = "English", description = "Into which language.")] language: String,
    #[param(default = "as in ${language}")] style: String,
) -> &'static str {
    "Translate into ${language}, ${style}: ${text}"
}

/// Tells the model how to answer.
#[prompt(name = "answer-well")]
fn answer() -> String {
    "Answer well.".to_owned()
}

/// Greets the caller, later.
#[prompt(role = assistant, description = "Greets whoever asks.")]
async fn greet_caller(caller: Caller, State(greeting): State<String>) -> Result<String, ToolError> {
    tokio::task::yield_now().await;
    let name = caller.name().ok_or("nobody is there")?;
    Ok(format!("{greeting}, {name}!"))
}

/// Quotes what it is given.
#[prompt]
fn quote_text(text: String, #[param(default = 3)] times: u32) -> String {
    format!("Read this ${{times}} times: {}", text.trim())
}

struct Desk {
    owner: &'static str,
}

#[tools(manual, prefix = "desk")]
impl Desk {
    /// Counts the drawers.
    #[tool(name = "drawers")]
    fn count(&self) -> usize {
        self.owner.len()
    }

    /// Asks what is in the drawers.
    #[prompt(name = "drawers", role = user)]
    fn ask(&self, #[param(default = 1)] drawer: u8) -> Result<String, ToolError> {
        match drawer {
            0 => Err(ToolError::failed("drawers are counted from 1")),
            _ => Ok(format!("What does {} keep in drawer ${{drawer}}?", self.owner)),
        }
    }

    /// Needs no desk.
    #[toolwright::prompt]
    async fn tidy() -> &'static str {
        "Keep it tidy."
    }
}

#[derive(Default)]
struct OnlyPrompts;

#[tools]
impl OnlyPrompts {
    /// Is the only one.
    #[prompt]
    fn only_prompt(&self) -> &'static str {
        "alone"
    }
}

/// Shares its name with a prompt of a bundle that holds no tools.
#[tool(name = "only_prompt")]
fn only_tool() -> &'static str {
    "not alone"
}

#[test]
fn the_attribute_and_the_comments_are_what_people_read() {
    let prompt: Prompt = translate::prompt();
    assert_eq!(prompt.name().as_str(), "translate");
    assert_eq!(prompt.title(), "Translate");
    assert_eq!(prompt.description(), "Asks for a translation.\n\nInto any language.");
    assert_eq!(prompt.role(), Role::User);
    assert_eq!(&*prompt.spec().bundle, "main::prompts");
    let params = prompt.params();
    let shown: Vec<_> = params
        .iter()
        .map(|param| (param.name.as_str(), param.required, param.description.as_deref()))
        .collect();
    assert_eq!(
        shown,
        [
            ("text", true, Some("What to translate.")),
            ("language", false, Some("Into which language.")),
            ("style", false, Some("Defaults to `as in ${language}`.")),
        ]
    );
    assert_eq!(params[1].default, Some(json!("English")));
}

#[test]
fn the_role_is_assistant_by_default() {
    assert_eq!(answer::prompt().role(), Role::Assistant);
    assert_eq!(answer::prompt().name().as_str(), "answer-well");
    assert_eq!(answer::prompt().title(), "answer-well");
    let greet = greet_caller::prompt();
    assert_eq!(greet.role(), Role::Assistant);
    assert_eq!(greet.description(), "Greets whoever asks.");
}

#[test]
fn a_function_stays_callable() {
    assert_eq!(answer(), "Answer well.");
    let desk = Desk { owner: "Ada" };
    assert!(desk.ask(0).is_err());
}

#[tokio::test]
async fn placeholders_in_the_text_are_filled_in_with_arguments_and_defaults() {
    let rendered = render(translate::prompt(), "translate", json!({"text": "Tag"})).await.unwrap();
    assert_eq!(rendered.role, Role::User);
    assert_eq!(rendered.text, "Translate into English, as in English: Tag");
    let sent = json!({"text": "Hi", "language": "German", "style": "short"});
    assert_eq!(
        text(translate::prompt(), "translate", sent).await,
        "Translate into German, short: Hi"
    );
}

#[tokio::test]
async fn text_from_the_arguments_is_never_itself_expanded() {
    let sent = json!({"text": "${language} $${style} ${x:-y}", "language": "the ${text} tongue"});
    assert_eq!(
        text(translate::prompt(), "translate", sent).await,
        "Translate into the ${text} tongue, as in the ${text} tongue: ${language} $${style} ${x:-y}"
    );
    // Nor if the function itself has put it into its text.
    let sent = json!({"text": " cost=$${times} ${times} ${who:-me} "});
    assert_eq!(
        text(quote_text::prompt(), "quote_text", sent).await,
        "Read this 3 times: cost=$${times} ${times} ${who:-me}"
    );
}

#[tokio::test]
async fn extractors_are_filled_in_and_hidden() {
    assert!(greet_caller::prompt().params().is_empty());
    let tools = registry(greet_caller::prompt());
    let missing = Invoker::new(&tools).unwrap_err().to_string();
    assert!(missing.contains("greet_caller"), "{missing}");
    let greeting = "Welcome".to_owned();
    let invoker = Invoker::builder(&tools).state(greeting).build().unwrap();
    let scope = toolwright::CallScope::new().caller(Caller::new("Ada"));
    let rendered = invoker.render_prompt_in(&scope, "greet_caller", "").await.unwrap();
    assert_eq!(rendered.text, "Welcome, Ada!");
    let failed = invoker.render_prompt("greet_caller", "").await.unwrap_err();
    assert_eq!(failed.outcome, Outcome::Failed);
    assert_eq!(failed.text(), "nobody is there");
}

#[tokio::test]
async fn methods_of_a_bundle_are_its_prompts() {
    let desk = || Desk { owner: "Ada" };
    let made: Vec<String> = desk()
        .into_items()
        .iter()
        .map(|item| match item {
            BundleItem::Tool(tool) => format!("tool {}", tool.name()),
            BundleItem::Prompt(prompt) => format!("prompt {}", prompt.name()),
            _ => "something new".to_owned(),
        })
        .collect();
    assert_eq!(made, ["tool desk_drawers", "prompt desk_drawers", "prompt desk_tidy"]);
    assert_eq!(
        text(desk(), "desk_drawers", json!({"drawer": 2})).await,
        "What does Ada keep in drawer 2?"
    );
    assert_eq!(text(desk(), "desk_tidy", json!({})).await, "Keep it tidy.");
    let failed = render(desk(), "desk_drawers", json!({"drawer": 0})).await;
    assert_eq!(failed.unwrap_err().text(), "drawers are counted from 1");
}

#[tokio::test]
async fn a_tool_and_a_prompt_may_have_one_name() {
    let tools = registry(Desk { owner: "Ada" });
    let invoker = Invoker::new(&tools).unwrap();
    let called = invoker.invoke(&ToolCall::new("desk_drawers", "{}")).await;
    assert_eq!(called.text(), "3");
    let called = invoker.invoke(&ToolCall::new("desk_tidy", "{}")).await;
    assert_eq!(called.outcome, Outcome::UnknownTool);
    let rendered = invoker.render_prompt("desk_drawers", "").await.unwrap();
    assert_eq!(rendered.text, "What does Ada keep in drawer 1?");
}

#[test]
fn prompts_are_discovered_apart_from_tools() {
    let found = Registry::discover().unwrap();
    assert_eq!(found.prompt("translate").unwrap().role(), Role::User);
    assert!(found.get("translate").is_none());
    assert!(found.prompt("only_prompt").is_some());
    assert!(found.get("only_prompt").is_some());
    assert!(found.prompt("desk_drawers").is_none(), "it is manual");
    assert_eq!(only_tool(), "not alone");
}
