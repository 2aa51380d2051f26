//! Parses slash commands.

use toolwright_core::schema::nearest;

use crate::cli::commands::tools::arguments::split_words;

/// Each command with its arguments and its description in `/help`.
const COMMANDS: [(&str, &str, &str); 9] = [
    ("help", "", "what there is to type here"),
    ("tools", "", "the tools that the model may call"),
    ("model", "[VENDOR:NAME]", "who answers, or choose another"),
    ("usage", "", "tokens and cost so far"),
    ("save", "FILE", "write the conversation as JSON lines"),
    ("prompt", "NAME key=value…", "insert a prompt; `prompts list` shows them"),
    ("conversations", "[ID]", "the conversations that are kept, or go on with another"),
    ("clear", "", "begin a new conversation"),
    ("quit", "", "leave, as Ctrl-D does"),
];

#[derive(Debug, PartialEq)]
pub(crate) enum SlashCommand {
    Help,
    Tools,
    Model(Option<String>),
    Usage,
    Save(String),
    Prompt { name: String, arguments: Vec<String> },
    Conversations(Option<String>),
    Clear,
    Quit,
}

impl SlashCommand {
    /// Parses a line without its slash; the error suggests what to write instead.
    pub(crate) fn parse(line: &str) -> Result<Self, String> {
        let (name, rest) = match line.split_once(char::is_whitespace) {
            Some((name, rest)) => (name, rest.trim()),
            None => (line, ""),
        };
        let command = match (name, rest) {
            ("help", "") => Self::Help,
            ("tools", "") => Self::Tools,
            ("model", "") => Self::Model(None),
            ("model", model) => Self::Model(Some(model.to_owned())),
            ("usage", "") => Self::Usage,
            ("conversations", "") => Self::Conversations(None),
            ("conversations", id) => Self::Conversations(Some(id.to_owned())),
            ("clear", "") => Self::Clear,
            ("quit" | "exit", "") => Self::Quit,
            ("save", file) if !file.is_empty() => Self::Save(file.to_owned()),
            ("prompt", rest) if !rest.is_empty() => {
                let (name, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                let name = name.to_owned();
                let arguments = split_words(rest.trim())?;
                Self::Prompt { name, arguments }
            }
            _ => return Err(usage_error(name)),
        };
        Ok(command)
    }
}

/// The names of all commands, with the slash.
pub(crate) fn command_names() -> Vec<String> {
    let names = COMMANDS.iter();
    names.map(|(name, _, _)| format!("/{name}")).collect()
}

/// The output of `/help`.
pub(crate) fn help_text() -> String {
    let mut text = String::new();
    for (name, takes, does) in COMMANDS {
        let syntax = format!("/{name} {takes}");
        text.push_str(&format!("{syntax:<24} {does}\n"));
    }
    text.push_str(
        "\nAnything else is a question. A line that ends in \\ goes on in the next, and so does code between ```;\n\
         Alt-Enter begins a new line. A space before it keeps a line out of the history, and makes a / mean itself.\n\
         Ctrl-C ends a turn; twice, it leaves.\n",
    );
    text
}

fn usage_error(name: &str) -> String {
    let names = COMMANDS.iter().map(|(name, _, _)| *name);
    if let Some((name, takes, _)) = COMMANDS.iter().find(|(known, _, _)| *known == name) {
        return format!("write /{name} {takes}").trim_end().to_owned();
    }
    match nearest(name, names, 1).first() {
        Some(nearest) => format!("there is no /{name}; did you mean /{nearest}?"),
        None => format!("there is no /{name}; /help shows all there are"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_parsed_and_in_the_help() {
        for name in command_names() {
            let bare = name.strip_prefix('/').unwrap();
            let read = SlashCommand::parse(bare);
            assert!(
                read.is_ok() || read == Err(format!("write {name} {}", argument_syntax(bare))),
                "{read:?}"
            );
            assert!(help_text().contains(&name));
        }
        assert_eq!(SlashCommand::parse("exit"), Ok(SlashCommand::Quit));
    }

    fn argument_syntax(name: &str) -> &'static str {
        COMMANDS.iter().find(|row| row.0 == name).unwrap().1
    }

    #[test]
    fn an_unknown_command_suggests_the_nearest() {
        let message = SlashCommand::parse("tolls").unwrap_err();
        assert_eq!(message, "there is no /tolls; did you mean /tools?");
        let message = SlashCommand::parse("frobnicate x").unwrap_err();
        assert!(message.contains("/help"), "{message}");
        assert_eq!(SlashCommand::parse("clear all").unwrap_err(), "write /clear");
    }

    #[test]
    fn quotes_hold_words_together() {
        let read = SlashCommand::parse("prompt p topic=\"two words\" of='a b' n=5").unwrap();
        let arguments = ["topic=two words", "of=a b", "n=5"].map(str::to_owned);
        let name = "p".to_owned();
        let arguments = arguments.to_vec();
        assert_eq!(read, SlashCommand::Prompt { name, arguments });
        let SlashCommand::Prompt { arguments, .. } =
            SlashCommand::parse("prompt p {\"a\": 1}").unwrap()
        else {
            panic!("no prompt");
        };
        assert_eq!(arguments, ["{\"a\": 1}"]);
        assert!(SlashCommand::parse("prompt p a='b").is_err());
    }
}
