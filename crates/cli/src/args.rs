//! The command line: flags, subcommands and their help texts.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::commands::chat::ChatArgs;
use crate::commands::check::CheckArgs;
use crate::commands::serve::ServeArgs;
use crate::config::model_selection::vendor_names;

const ROOT_HELP: &str = "\
Try next:
  serve --open                                         the same in a browser
  tools list                                           every tool there is
  tools show convert_temperature                       what one takes and returns
  tools call convert_temperature value=100 from_unit=C run it
  chat                                                 let a model call them
  check                                                what each provider makes of the tools

With cargo, put `cargo run -q --` before them. Results go to stdout, everything else to stderr.
Exit codes: 0 done, 1 a call failed or something is wrong, 2 the command line was wrong.";

const SERVE_HELP: &str = "\
Examples:
  serve                                       the console at http://127.0.0.1:8787/, for this machine alone
  serve --port 8900                           at another port; --addr 8900, :8900 and localhost:8900 are the same
  serve --open --model anthropic              and a browser with it
  serve --addr 0.0.0.0:8787 --host box.local --token \"$(openssl rand -hex 24)\"
                                              for other machines, who have to bring the token

Besides the console: /mcp for MCP clients, /api/chat for AI SDK front ends, /healthz, /readyz and /metrics.
Conversations are kept as `chat` keeps them. Settings: model, system, store, server.token; [[prices]] for costs; [journal] keep = \"90d\"
to delete conversations that have not gone on for 90 days.
Ctrl-C lets turns that run come to their end, for a few seconds; what does not goes on the next time.";

const CHECK_HELP: &str = "\
Examples:
  check                                   the tools that are linked or attached, the dialects of your vendors
  check --for openai-strict,gemini        only these
  check --deny lossy tools.json           for CI: a file of definitions, any shape
  check --for anthropic --emit            the `tools` array of a request
  check --mcp https://example.com/mcp     the tools of a live MCP server, by its address
  check --mcp 'npx -y SERVER ARGUMENT'    or by the command that starts it, which it runs

Dialects: openai, openai-strict, anthropic, anthropic-strict, gemini (parametersJsonSchema), gemini-openapi
(parameters), ollama, mistral, groq, deepseek, deepseek-strict, xai, bedrock, mcp, portable; or all.
Shapes: openai-chat, openai-responses, anthropic, gemini, ollama, mcp, bedrock.
A server that wants authorization is named in toolwright.toml; `check` includes all that are named there.
Exit codes: 0 all is well, 1 something is impossible, refused, denied or out of reach, 2 the command line was wrong.";

const CHAT_HELP: &str = "\
Examples:
  chat                                             ask, and go on asking; /help says what else there is
  chat --model openai:gpt-5.6-terra                another model; its key is OPENAI_API_KEY
  chat --once 'What time is it in Tokyo?'          one question; the answer alone on stdout
  chat --once 'Convert 100 C' --json               everything that happens, one JSON object per line
  git diff | chat --once - --system 'Review it'    the question from stdin
  chat --conversation ID                           go on with one; `conversations list` shows them

Models: demo (no key, no network), or VENDOR:NAME. Without --model: what the setting `model` says, else the
first of openai, anthropic, gemini whose key is set, else Ollama where it runs, else demo. The first line on
stderr says which, and why. A VENDOR is one of:
  @vendors@

Settings: model, system, models.VENDOR.model; WebSearchTool.* and MCP.* for what the vendor runs; [mcp.servers.NAME]
for servers that are attached (`mcp --help`); [[prices]] with model, input and output, of a million tokens.

A session is kept where `conversations` finds it; one question only with --conversation or --store.
Calls that need approval are asked about in a terminal, and are denied where there is none.
Exit codes: 0 answered, 1 the model failed or a limit ended the turn, 2 the command line was wrong, 130 Ctrl-C.";

const CONVERSATIONS_HELP: &str = "\
Examples:
  conversations list                            every conversation that is kept, the latest first
  conversations show chat-018f2c-1a2b           who said what, what was called, what came of it
  conversations export chat-018f2c-1a2b a.jsonl a file of JSON lines; without one, on stdout
  conversations import a.jsonl --as copy        the same conversation under another name
  chat --conversation chat-018f2c-1a2b          go on with it

`chat` keeps conversations in toolwright/conversations.sqlite in $XDG_DATA_HOME, else in ~/.local/share.
--store or the setting `store` names another place. Exit codes: 0 done, 1 something is wrong, 2 the command
line was wrong, an unknown ID included.";

const STORE_HELP: &str = "\
Examples:
  store backup monday.sqlite                 a copy of this moment, while servers run; itself a store
  store restore monday.sqlite --store URL    into a store without conversations, of either kind
  store verify                               whether all that is stored can be read, and no decision was changed
  store rotate-key                           sign approvals with a new key from now on
  store prune --older-than 90d               delete what has not gone on for 90 days
  store erase --subject ada --receipt r.json delete all conversations of one person

--store or the setting `store` names the store, as for `conversations`. A server prunes by itself: keep = \"90d\" in
[journal]. Exit codes: 0 done, 1 something is wrong or in use, 2 the command line was wrong.";

fn chat_help() -> String {
    let vendors: Vec<&str> = vendor_names().filter(|name| *name != "demo").collect();
    let lines: Vec<String> = vendors.chunks(10).map(|row| row.join(", ")).collect();
    CHAT_HELP.replace("@vendors@", &lines.join(",\n  "))
}

/// Define a tool once; list it, inspect it, call it.
#[derive(Parser)]
#[command(version, after_help = ROOT_HELP, subcommand_required = false)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// What every command takes.
#[derive(Args)]
pub(crate) struct GlobalArgs {
    /// Print machine-readable JSON on stdout
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// The directory that tools work in; fills parameters named `project_dir`
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) project_dir: Option<PathBuf>,
    /// Who answers: `demo`, VENDOR:NAME or VENDOR [default: by the first key that is set, else demo]
    #[arg(long, global = true, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Where conversations are kept: `memory:`, `sqlite:FILE` or `postgres://…` [default: a file of the user's]
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// The config file [default: toolwright.toml or toolwright.properties in the project directory]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Serve the console, chat endpoints and MCP over HTTP; what happens without a command
    #[command(after_help = SERVE_HELP)]
    Serve(ServeArgs),
    /// Chat with a model that may call the tools
    #[command(after_help = chat_help())]
    Chat(ChatArgs),
    /// List, show, export, import and delete conversations
    #[command(subcommand, after_help = CONVERSATIONS_HELP)]
    Conversations(ConversationsCommand),
    /// Back up, restore, verify and clean up the store of conversations
    #[command(subcommand, after_help = STORE_HELP)]
    Store(StoreCommand),
    /// List, inspect and call tools
    #[command(subcommand)]
    Tools(ToolsCommand),
    /// List prompts, and fill one in
    #[command(subcommand)]
    Prompts(PromptsCommand),
    /// Check that every provider accepts every tool, and show what is lost
    #[command(after_help = CHECK_HELP)]
    Check(CheckArgs),
    /// Serve the tools over MCP on stdio; list the servers that the settings name
    #[command(after_help = "\
Examples:
  mcp                            serve every tool, linked or attached; for the configuration of an MCP client
  mcp list                       the servers of [mcp.servers.NAME] and MCP.*: revision, latency, tools
  mcp accept NAME                take a tool back whose definition has changed since it was first seen

Servers are attached wherever tools are used: in toolwright.toml,
  [mcp.servers.files]
  command = \"mcp-server-filesystem\"
  args = [\"shared\"]
  [mcp.servers.wiki]
  url = \"https://wiki.example/mcp\"
  authorization = \"Bearer …\"
each with `prefix`, `trust` (nothing, hints, calls), `timeout_s` and `connect_s` where wanted. Calls are asked about
until a server is trusted.

Nothing but the protocol goes to stdout. The server ends when its parent does, and with Ctrl-C.")]
    Mcp {
        #[command(subcommand)]
        command: Option<McpCommand>,
    },
    /// Show the settings in force
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Make a project with one tool and one test of it
    New {
        /// The project's directory, which must be new or empty; its name becomes the package's
        directory: PathBuf,
        /// Depend on the published version even where a checkout is at hand
        #[arg(long)]
        published: bool,
    },
}

impl Default for Command {
    fn default() -> Self {
        Self::Serve(ServeArgs::default())
    }
}

#[derive(Subcommand)]
pub(crate) enum McpCommand {
    /// List the servers that the settings name, and their tools
    List,
    /// Accept a tool whose definition has changed
    Accept {
        /// The tool's name, as `mcp list` shows it
        name: String,
    },
}

#[derive(Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print every setting, its value and where it comes from; secrets are masked
    #[command(after_help = "\
Settings come from, later ones first: flags; variables (TOOLWRIGHT_ and the key in upper case, with _
for each dot); toolwright.toml, else toolwright.properties; defaults.

Ours are model, system, store and the sections models, server, journal, mcp, prices, tools, bundles, defaults, WebSearchTool and
MCP: a key there that is unknown is an error. Every other section is for tools to read.")]
    Show,
}

#[derive(Subcommand)]
pub(crate) enum ConversationsCommand {
    /// List every conversation: its ID, when it went on last, how many entries it has, how it began
    List,
    /// Show who said what, what was called and what came of it; with --json, every entry
    Show {
        /// The conversation's ID
        id: String,
    },
    /// Write one as JSON lines
    Export {
        /// The conversation's ID
        id: String,
        /// A new file [default: stdout]
        file: Option<PathBuf>,
        /// The branch that ends with this entry [default: the newest]
        #[arg(long, value_name = "ENTRY")]
        branch: Option<String>,
    },
    /// Read one that was exported
    Import {
        /// The file; `-` reads stdin
        file: PathBuf,
        /// Under which ID [default: the one it was exported under]
        #[arg(long = "as", value_name = "ID")]
        id: Option<String>,
    },
    /// Delete one for good
    Delete {
        /// The conversation's ID
        id: String,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Subcommand)]
pub(crate) enum StoreCommand {
    /// Copy the store into a file, which is itself a SQLite store; servers may go on meanwhile
    #[cfg(feature = "sqlite")]
    Backup {
        /// A new file
        file: PathBuf,
        /// Replace the file if it is there
        #[arg(long)]
        force: bool,
    },
    /// Copy a backup into a store that has no conversations; no server may use it meanwhile
    #[cfg(feature = "sqlite")]
    Restore {
        /// The file that `store backup` wrote
        file: PathBuf,
    },
    /// Check that everything can be read and fits together, and that no decision was changed
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    Verify,
    /// Sign approvals with a new key; those that old keys have signed stay valid
    RotateKey {
        /// How many old keys still verify
        #[arg(long, value_name = "N", default_value_t = 4)]
        keep: usize,
    },
    /// Delete conversations that have not gone on for long; never one whose turn is open
    Prune {
        /// The age of the last entry, as 90d, 12w or 36h [default: the setting `journal.keep`]
        #[arg(long, value_name = "AGE")]
        older_than: Option<String>,
        /// Only list them
        #[arg(long)]
        dry_run: bool,
    },
    /// Delete every conversation of one person, and print a receipt as JSON, without their content
    Erase {
        /// The person, as their credential names them
        #[arg(long)]
        subject: String,
        /// Only list what would be erased
        #[arg(long)]
        dry_run: bool,
        /// How long to wait for a turn that runs, in seconds
        #[arg(long, value_name = "SECONDS", default_value_t = 10)]
        wait: u64,
        /// Write the receipt to this new file, too
        #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
        receipt: Option<PathBuf>,
    },
}

#[derive(Subcommand)]
pub(crate) enum ToolsCommand {
    /// List every tool with its first line of description
    List,
    /// Show what one tool takes, returns and declares
    Show {
        /// The tool's name
        name: String,
    },
    /// Print the JSON Schema of one tool's arguments
    Schema {
        /// The tool's name
        name: String,
        /// Print it as a dialect wants it; `check --help` lists them
        #[arg(long = "for", value_name = "DIALECT")]
        dialect: Option<String>,
    },
    /// Call one tool and print its result
    #[command(after_help = "\
Examples:
  tools call get_weather city=Paris
  tools call get_weather '{\"city\": \"Paris\"}'
  echo '{\"city\": \"Paris\"}' | tools call get_weather -

A value is read by the type its parameter has: text stays text, numbers become numbers, objects and
lists are written as JSON. A key written several times makes a list.")]
    Call {
        /// The tool's name
        name: String,
        /// key=value pairs, one JSON object, or `-` to read JSON from stdin
        #[arg(value_name = "KEY=VALUE | JSON | -")]
        arguments: Vec<String>,
        /// Approve the call if it asks for approval, here or at the attached server that has the tool
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Subcommand)]
pub(crate) enum PromptsCommand {
    /// List every prompt with its first line of description
    List,
    /// Fill one prompt in and print its text
    #[command(after_help = "\
Examples:
  prompts render summarize_instructions topic=bees
  prompts render summarize_instructions '{\"topic\": \"bees\", \"max_words\": 50}'
  echo '{\"topic\": \"bees\"}' | prompts render summarize_instructions -

Values are read as `tools call` reads them. With --json, the text is printed with its role.")]
    Render {
        /// The prompt's name
        name: String,
        /// key=value pairs, one JSON object, or `-` to read JSON from stdin
        #[arg(value_name = "KEY=VALUE | JSON | -")]
        arguments: Vec<String>,
    },
}
