//! `publish`: writes `server.json`, with which a program is listed in the MCP registry.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Map, Value, json};

use crate::AppInfo;
use crate::cli::cli_error::CliError;
use crate::cli::terminal::output;

/// The schema that the file follows.
const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";
/// The longest description and title that the registry accepts, in characters.
const MAX_DESCRIPTION: usize = 100;
/// The shortest and longest names.
const NAME_LENGTH: std::ops::RangeInclusive<usize> = 3..=200;

/// The flags of `publish`.
#[derive(clap::Args)]
pub(crate) struct PublishArgs {
    /// The server's name in the registry: a namespace that is yours, `/`, a name; as io.github.ada/shop
    #[arg(long, value_name = "NAME")]
    name: String,
    /// Clients run this crate of crates.io [default: the program's name]
    #[arg(long, value_name = "CRATE", num_args = 0..=1, group = "place")]
    cargo: Option<Option<String>>,
    /// Clients run this container image, with its tag; as ghcr.io/ada/shop:1.2.0
    #[arg(long, value_name = "IMAGE", group = "place")]
    image: Option<String>,
    /// Clients connect to this address, at which `serve` runs; as https://shop.example/mcp
    #[arg(long, value_name = "URL", group = "place")]
    remote: Option<String>,
    /// What the registry shows as name
    #[arg(long)]
    title: Option<String>,
    /// What the server is for, in at most 100 characters [default: the program's description]
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Where its source is, as https://github.com/ada/shop
    #[arg(long, value_name = "URL")]
    repository: Option<String>,
    /// The file; `-` is stdout
    #[arg(long, value_name = "FILE", default_value = "server.json")]
    out: PathBuf,
}

/// Writes the file and prints what is left to do.
pub(crate) fn execute(command: &PublishArgs, info: &AppInfo) -> Result<ExitCode, CliError> {
    let server = server_json(command, info).map_err(CliError::usage)?;
    if command.out == Path::new("-") {
        output::print_json(&server)?;
        return Ok(ExitCode::SUCCESS);
    }
    check_replaceable(&command.out, &command.name).map_err(CliError::usage)?;
    let text = format!("{}\n", serde_json::to_string_pretty(&server)?);
    let shown = command.out.display();
    fs::write(&command.out, text)
        .map_err(|error| CliError::failure(format!("{shown}: {error}")))?;
    output::print_text(&format!("wrote {shown}\n\nnext:\n{}", next_steps(command)))?;
    Ok(ExitCode::SUCCESS)
}

/// The content of the file.
fn server_json(command: &PublishArgs, info: &AppInfo) -> Result<Value, String> {
    check_name(&command.name)?;
    let description = command.description.as_deref().unwrap_or(&info.description).trim();
    check_text("description", description)?;
    let mut server = Map::new();
    let mut set = |key: &str, value: Value| server.insert(key.to_owned(), value);
    set("$schema", json!(SCHEMA));
    set("name", json!(command.name));
    set("description", json!(description));
    set("version", json!(info.version));
    if let Some(title) = &command.title {
        check_text("title", title)?;
        set("title", json!(title));
    }
    if let Some(url) = &command.repository {
        check_url("--repository", url)?;
        set("repository", json!({ "url": url, "source": repository_source(url)? }));
    }
    match &command.remote {
        Some(url) => {
            check_url("--remote", url)?;
            set("remotes", json!([{ "type": "streamable-http", "url": url }]));
        }
        None => {
            set("packages", json!([package(command, info)?]));
        }
    }
    Ok(server.into())
}

/// The package that clients run: `PROGRAM mcp`, over stdio.
fn package(command: &PublishArgs, info: &AppInfo) -> Result<Value, String> {
    let (registry, identifier, version) = match (&command.cargo, &command.image) {
        (Some(name), _) => ("cargo", name.as_deref().unwrap_or(&info.name), Some(&info.version)),
        (_, Some(image)) => {
            let tag = image.rsplit_once('/').and_then(|(_, name)| name.split_once(':'));
            match tag {
                Some((_, tag)) if !tag.is_empty() && tag != "latest" => {}
                _ => {
                    return Err(format!(
                        "--image {image}: name a host and a tag, as ghcr.io/ada/shop:1.2.0"
                    ));
                }
            }
            ("oci", image.as_str(), None)
        }
        _ => {
            return Err(
                "where is the server? pass --cargo, --image IMAGE or --remote URL".to_owned()
            );
        }
    };
    let mut package = json!({
        "registryType": registry,
        "identifier": identifier,
        "transport": { "type": "stdio" },
        "packageArguments": [{ "type": "positional", "value": "mcp" }],
    });
    if let (Some(version), Some(package)) = (version, package.as_object_mut()) {
        package.insert("version".to_owned(), json!(version));
    }
    Ok(package)
}

fn check_name(name: &str) -> Result<(), String> {
    let is_word = |word: &str, others: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || others.contains(c))
    };
    let is_valid = name.split_once('/').is_some_and(|(namespace, name)| {
        is_word(namespace, ".-") && namespace.contains('.') && is_word(name, "._-")
    });
    match is_valid && NAME_LENGTH.contains(&name.len()) {
        true => Ok(()),
        false => Err(format!(
            "--name {name}: a namespace that you can prove to be yours, one `/` and a name, as io.github.ada/shop or \
             com.example/shop"
        )),
    }
}

fn check_text(what: &str, text: &str) -> Result<(), String> {
    match text.chars().count() {
        0 => Err(format!("the {what} is empty: pass --{what} TEXT")),
        1..=MAX_DESCRIPTION => Ok(()),
        length => Err(format!(
            "the {what} has {length} characters, and the registry accepts {MAX_DESCRIPTION}: pass a shorter --{what} TEXT"
        )),
    }
}

fn check_url(flag: &str, url: &str) -> Result<(), String> {
    let rest = url.strip_prefix("https://");
    match rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/')) {
        true => Ok(()),
        false => Err(format!("{flag} {url}: an address that begins with https://")),
    }
}

/// The registry's name for the host of a repository.
fn repository_source(url: &str) -> Result<&'static str, String> {
    [("https://github.com/", "github"), ("https://gitlab.com/", "gitlab")]
        .into_iter()
        .find_map(|(host, source)| url.starts_with(host).then_some(source))
        .ok_or_else(|| format!("--repository {url}: the registry knows github.com and gitlab.com"))
}

/// Fails if the file exists and describes something else.
fn check_replaceable(file: &Path, name: &str) -> Result<(), String> {
    let text = match fs::read_to_string(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(format!("{}: {error}", file.display())),
        Ok(text) => text,
    };
    let server: Value = serde_json::from_str(&text).unwrap_or_default();
    match server.get("name").is_some_and(|it| it == name) {
        true => Ok(()),
        false => Err(format!(
            "{} is there already and does not describe {name}: pass --out with another file",
            file.display()
        )),
    }
}

/// How the registry checks that the server is the author's own, and the commands that publish it.
fn next_steps(command: &PublishArgs) -> String {
    let name = &command.name;
    let proof = match (&command.cargo, &command.image) {
        (Some(_), _) => format!(
            "  write `mcp-name: {name}` into the README of the crate, as text that is shown, and publish the crate\n"
        ),
        (_, Some(_)) => format!(
            "  build the image with LABEL io.modelcontextprotocol.server.name=\"{name}\", and push it\n"
        ),
        _ => "  let the address be reachable for everyone\n".to_owned(),
    };
    format!(
        "{proof}  mcp-publisher login github    (or dns, for a domain of yours)\n  mcp-publisher publish\n"
    )
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        publish: PublishArgs,
    }

    const INFO: AppInfo = AppInfo::new("shop", "1.2.0", "Sells books.");

    fn parse(words: &str) -> PublishArgs {
        let words = ["shop", "--name", "io.github.ada/shop"].into_iter().chain(words.split(' '));
        Line::try_parse_from(words.filter(|word| !word.is_empty())).unwrap().publish
    }

    fn server(words: &str) -> Result<Value, String> {
        server_json(&parse(words), &INFO)
    }

    #[test]
    fn a_crate_is_run_with_the_command_for_stdio() {
        let server = server("--cargo --repository https://github.com/ada/shop").unwrap();
        assert_eq!(
            server,
            json!({
                "$schema": SCHEMA,
                "name": "io.github.ada/shop",
                "description": "Sells books.",
                "version": "1.2.0",
                "repository": { "url": "https://github.com/ada/shop", "source": "github" },
                "packages": [{
                    "registryType": "cargo",
                    "identifier": "shop",
                    "version": "1.2.0",
                    "transport": { "type": "stdio" },
                    "packageArguments": [{ "type": "positional", "value": "mcp" }],
                }],
            })
        );
    }

    #[test]
    fn an_image_has_its_version_in_its_tag() {
        let found = server("--image ghcr.io/ada/shop:1.2.0").unwrap();
        let package = &found["packages"][0];
        assert_eq!(package["identifier"], "ghcr.io/ada/shop:1.2.0");
        assert_eq!(package.get("version"), None);
        for image in ["ghcr.io/ada/shop", "ghcr.io/ada/shop:latest", "shop:1.2.0"] {
            assert!(server(&format!("--image {image}")).is_err(), "{image}");
        }
    }

    #[test]
    fn a_remote_server_has_no_package() {
        let found = server("--remote https://shop.example/mcp").unwrap();
        assert_eq!(found["remotes"][0]["type"], "streamable-http");
        assert_eq!(found.get("packages"), None);
        assert!(server("--remote http://shop.example/mcp").is_err());
    }

    #[test]
    fn what_the_registry_would_refuse_is_refused_with_what_to_pass() {
        assert!(server("").unwrap_err().contains("pass --cargo"));
        assert!(check_name("io.github.ada/shop").is_ok());
        for name in
            ["shop", "ada/shop", "io.github.ada/shop/more", "io.github.ada/", "io.github.ä/b"]
        {
            assert!(check_name(name).is_err(), "{name}");
        }
        let wordy = AppInfo::new("shop", "1.2.0", "");
        let error = server_json(&parse("--cargo"), &wordy).unwrap_err();
        assert!(error.contains("pass --description TEXT"), "{error}");
        assert!(check_text("title", &"é".repeat(100)).is_ok());
        assert!(check_text("title", &"é".repeat(101)).unwrap_err().contains("101 characters"));
    }
}
