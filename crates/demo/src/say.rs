//! What the model says: results, questions, and what it is.

use toolwright_chat::ToolChoice;
use toolwright_core::{Outcome, ToolResult};

use crate::desk::Desk;
use crate::meaning::spelling;
use crate::recall::Known;
use crate::shape::{Param, Shape};
use crate::words::{Text, head};

mod value;

/// How many tools are named, how many options, and how many bytes of a result are told.
const TOOLS: usize = 6;
const OPTIONS: usize = 12;
const TOLD: usize = 8_000;

const STAND_IN: &str = "I am a rule-based stand-in, not a language model: I match words to tools.";
const REAL: &str = "For a real one, set OPENAI_API_KEY and choose it with `--model openai:…`.";

/// Tells what the model is and what it can do.
pub(crate) fn help(desk: &Desk<'_>) -> String {
    let names: Vec<&str> = desk
        .tools
        .iter()
        .take(TOOLS)
        .map(|tool| tool.spec().display_name())
        .collect();
    let tools = match desk.tools.len() {
        _ if *desk.choice == ToolChoice::None => "I may not use tools here.".to_owned(),
        0 => "I have no tools here.".to_owned(),
        all if all > TOOLS => format!("My tools: {} and {} more.", names.join(", "), all - TOOLS),
        _ => format!("My tools: {}.", names.join(", ")),
    };
    format!("{STAND_IN} {tools} {REAL}")
}

/// Answers what no tool answers.
pub(crate) fn nothing_fits(desk: &Desk<'_>, question: &str) -> String {
    let text = Text::new(question);
    let lower = text.source.to_lowercase();
    let first = |words: &[&str]| text.words.first().is_some_and(|word| word.is(words));
    if first(&["thanks", "thank", "bye", "goodbye"]) && text.words.len() < 6 {
        return "You are welcome.".to_owned();
    }
    if first(&[
        "hi",
        "hello",
        "hey",
        "good",
        "help",
        "greetings",
        "moin",
        "hallo",
        "howdy",
    ]) && text.words.len() < 6
    {
        return format!("Hello. {}", help(desk));
    }
    let asks = [
        "what can you",
        "who are you",
        "what are you",
        "your tools",
        "what tools",
        "which tools",
        "help me",
        "can you do",
    ];
    if text.words.is_empty() || asks.iter().any(|ask| lower.contains(ask)) {
        return help(desk);
    }
    if let ToolChoice::Named(name) = desk.choice {
        return format!(
            "I cannot call `{}`: there is no such tool here. {STAND_IN} {REAL}",
            head(name, 64)
        );
    }
    if desk.tools.is_empty() || *desk.choice == ToolChoice::None {
        return format!("I cannot answer that. {}", help(desk));
    }
    let near = desk.index.find(&text, 3);
    let near = near.iter().filter_map(|hit| desk.spec(hit.tool));
    let mut names: Vec<&str> = near.map(|spec| spec.display_name()).collect();
    if names.is_empty() {
        names = desk
            .tools
            .iter()
            .take(3)
            .map(|tool| tool.spec().display_name())
            .collect();
    }
    format!(
        "I cannot answer that: none of my tools fits. {STAND_IN} The nearest are: {}. {REAL}",
        names.join(", ")
    )
}

/// Asks for what is missing.
pub(crate) fn ask(desk: &Desk<'_>, tool: usize, missing: &[String], alone: bool) -> String {
    let params = desk.params(tool);
    let missing = params.iter().filter(|param| missing.contains(&param.name));
    let questions: Vec<String> = missing.map(question).collect();
    let questions = questions.join("\n");
    match desk.spec(tool) {
        Some(spec) if !alone => format!("{}: {questions}", spec.display_name()),
        _ => questions,
    }
}

fn question(param: &Param) -> String {
    let name = match spoken(&param.name) {
        // "Which to?" is no English.
        name if name.len() < 3 || crate::words::is_stop(&name) => format!("value for `{name}`"),
        name => name,
    };
    let about = match param.about.trim() {
        "" => String::new(),
        about => format!(" ({about})"),
    };
    match &param.shape {
        Shape::Choice(options) => {
            let options: Vec<String> = options.iter().filter_map(spelling).take(OPTIONS).collect();
            format!("Which {name}: {}?", value::either(&options))
        }
        Shape::Number { .. } => format!("What {name}?{about}"),
        Shape::Flag => format!("{name}: yes or no?{about}"),
        _ => format!("Which {name}?{about}"),
    }
}

/// A name as people say it: `from_unit` is "from unit".
fn spoken(name: &str) -> String {
    let mut spoken = String::new();
    for letter in head(name, 64).chars() {
        let after_small = spoken.chars().last().is_some_and(char::is_lowercase);
        if letter.is_uppercase() && after_small {
            spoken.push(' ');
        }
        match letter {
            '_' | '-' | '.' => spoken.push(' '),
            letter => spoken.extend(letter.to_lowercase()),
        }
    }
    spoken.trim().to_owned()
}

/// Says that something was not tried.
pub(crate) fn dropped(desk: &Desk<'_>, tool: usize) -> String {
    let name = desk
        .spec(tool)
        .map_or("the rest", |spec| spec.display_name());
    format!("{name} was not tried, because it needs what failed.")
}

/// Tells what a call came to.
pub(crate) fn result(desk: &Desk<'_>, result: &ToolResult) -> String {
    let spec = desk
        .tools
        .iter()
        .map(|tool| tool.spec())
        .find(|spec| spec.name == result.tool);
    let name = spec.map_or(result.tool.as_str(), |spec| spec.display_name());
    let text = result.text();
    let cut = head(&text, TOLD);
    let more = if cut.len() < text.len() { " …" } else { "" };
    let told = cut.trim();
    match result.outcome {
        Outcome::Ok => match value::told(told) {
            Some(told) => format!("{name}: {told}"),
            None if told.is_empty() => format!("{name}: done."),
            // A bare word or number needs to be told what it is.
            None if !told.contains(char::is_whitespace) => format!("{name}: {told}{more}"),
            None => format!("{told}{more}"),
        },
        Outcome::Denied => format!("{name} was denied, so nothing was done: {told}"),
        Outcome::TimedOut => format!("{name} took too long: {told}"),
        Outcome::Cancelled => format!("{name} was cancelled: {told}"),
        Outcome::OutcomeUnknown => {
            format!("{name} was interrupted, and it is not known whether it did its work: {told}")
        }
        _ => format!("{name} failed: {told}"),
    }
}

/// Tells that an answer cannot be put into a form.
pub(crate) fn no_form(name: &str, missing: &[String], known: &Known) -> String {
    let told = known
        .texts
        .first()
        .map(|text| format!(" What I know: {}", head(text, 500)));
    let what = match missing {
        [] => "the values I found do not satisfy it".to_owned(),
        missing => format!("I found no value for {}", missing.join(", ")),
    };
    let (name, told) = (head(name, 64), told.unwrap_or_default());
    format!("I cannot answer in the form `{name}`: {what}. {STAND_IN} {REAL}{told}")
}
