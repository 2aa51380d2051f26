//! Runs the commands in the READMEs, the book and the headers of the examples, and compares their output.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::canned_model;
use crate::command_runner::{CommandRunner, cargo_command, workspace_root};
use crate::forbidden::tracked_files;
use crate::transcript::{self, Transcript};

/// The timeout of one command, not counting its build.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(60);

/// Runs every transcript; returns how many there are.
pub(crate) fn check() -> Result<usize, String> {
    let mut transcripts = Vec::new();
    for (file, source) in example_sources()? {
        let found = transcript::find_in_doc_header(&source);
        if found.is_empty() {
            println!("{file}: shows no transcript");
        }
        transcripts.extend(found.into_iter().map(|found| (file.clone(), found)));
    }
    for file in pages()? {
        let text = read(&file)?;
        let shown = display_path(&file);
        let found =
            transcript::find_in_markdown(&text).map_err(|fault| format!("{shown}: {fault}"))?;
        transcripts.extend(found.into_iter().map(|found| (shown.clone(), found)));
    }

    let model_url = canned_model::serve().map_err(|error| format!("canned model: {error}"))?;
    let mut differing = 0;
    for (file, transcript) in &transcripts {
        let location = format!("{file}:{}", transcript.line);
        match check_output(transcript, &model_url) {
            Ok(()) => println!("{location}: as shown: {}", transcript.command),
            Err(difference) => {
                differing += 1;
                println!("{location}: $ {}\n{difference}", transcript.command);
            }
        }
    }
    match differing {
        0 => Ok(transcripts.len()),
        _ => Err(format!("{differing} of {} transcripts are not as shown", transcripts.len())),
    }
}

fn check_output(transcript: &Transcript, model_url: &str) -> Result<(), String> {
    let line = transcript::split_command(&transcript.command)?;
    let words: Vec<&str> = line.words.iter().map(String::as_str).collect();
    let run = match words.as_slice() {
        ["cargo", "run", args @ ..] => build_command(args)?,
        ["cargo", "xtask", ..] => return Err("a transcript may not start xtask".to_owned()),
        other => CommandRunner::from_words(other),
    };
    // `BASE_URL` is the one of 21_real_model; its key would make other programs select the model by themselves.
    let run = match words.contains(&"21_real_model") {
        true => run.env("BASE_URL", model_url).env("OPENAI_API_KEY", "a key"),
        false => run,
    };
    let captured = run.env("NO_COLOR", "1").capture(COMMAND_TIMEOUT)?;
    if captured.exit != Some(line.expected_exit_code) {
        let exit = captured.exit.map_or("a signal".to_owned(), |code| code.to_string());
        return Err(format!(
            "promised exit {}, got {exit}, after printing:\n{}",
            line.expected_exit_code,
            indented(&captured.output)
        ));
    }
    if transcript.matches_output(&captured.output) {
        return Ok(());
    }
    Err(format!(
        "promised:\n{}\ngot:\n{}",
        indented(&transcript.expected.join("\n")),
        indented(&captured.output)
    ))
}

/// Builds the program of a `cargo run` first, so that compiling is neither in its output nor in its time; returns the run.
fn build_command<'a>(args: &[&'a str]) -> Result<CommandRunner, String> {
    let end = args.iter().position(|arg| *arg == "--");
    let (options, program_args) = args.split_at(end.unwrap_or(args.len()));
    let mut options: Vec<&'a str> = options
        .iter()
        .copied()
        .filter(|option| !matches!(*option, "-q" | "--quiet" | "--locked"))
        .collect();
    // With `-p`, cargo resolves the features for that package alone, and compiles its dependencies a second time.
    if options.contains(&"--example")
        && let Some(at) = options.iter().position(|option| *option == "-p")
    {
        options.drain(at..options.len().min(at + 2));
    }
    cargo_command("build", &["--quiet"]).args(&options).run_inherited()?;
    Ok(cargo_command("run", &["--quiet"]).args(&options).args(program_args))
}

fn indented(text: &str) -> String {
    let lines: Vec<String> = text.trim_end().lines().map(|line| format!("    {line}")).collect();
    lines.join("\n")
}

/// The path and source of each example: `examples/*.rs`, and `main.rs` of `examples/NN-*/`.
fn example_sources() -> Result<Vec<(String, String)>, String> {
    let folder = workspace_root().join("examples");
    let Ok(entries) = fs::read_dir(&folder) else {
        return Ok(Vec::new());
    };
    let mut programs: Vec<PathBuf> =
        entries.filter_map(Result::ok).flat_map(|entry| programs_at(&entry.path())).collect();
    programs.sort();
    let source = |path: &PathBuf| Ok((display_path(path), read(path)?));
    programs.iter().map(source).collect()
}

/// The project's own README, that of each bridge, and the pages of the book.
fn pages() -> Result<Vec<PathBuf>, String> {
    let mut files = vec![workspace_root().join("README.md")];
    let docs = tracked_files()?.into_iter();
    let docs = docs.filter(|file| file.starts_with("docs/") && file.ends_with(".md"));
    files.extend(docs.map(|file| workspace_root().join(file)).filter(|file| file.is_file()));
    let bridges = workspace_root().join("bridges");
    let entries = fs::read_dir(&bridges).map_err(|error| format!("bridges: {error}"))?;
    let readmes = entries.filter_map(Result::ok);
    let readmes = readmes.map(|entry| entry.path().join("README.md"));
    files.extend(readmes.filter(|file| file.is_file()));
    files.sort();
    Ok(files)
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", display_path(path)))
}

/// A path relative to the workspace's root.
fn display_path(path: &Path) -> String {
    let path = path.strip_prefix(workspace_root()).unwrap_or(path);
    path.display().to_string()
}

fn programs_at(path: &Path) -> Vec<PathBuf> {
    if path.extension().is_some_and(|extension| extension == "rs") {
        return vec![path.to_owned()];
    }
    let numbered = path.file_name().is_some_and(|name| {
        let name = name.to_string_lossy();
        name.split_once('-').is_some_and(|(number, _)| {
            number.len() == 2 && number.chars().all(|c| c.is_ascii_digit())
        })
    });
    let candidates = [path.join("main.rs"), path.join("src/main.rs")];
    candidates.into_iter().filter(|file| numbered && file.is_file()).collect()
}
