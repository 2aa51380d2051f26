//! The command line: flags, subcommands and their help texts.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use toolwright_models::VENDORS;

use crate::cli::commands::chat::ChatArgs;
use crate::cli::commands::check::CheckArgs;
use crate::cli::commands::new::NewArgs;
use crate::cli::commands::publish::PublishArgs;
use crate::cli::commands::serve::ServeArgs;

const SERVE_HELP: &str = "\
Examples:
  serve                                       the console at http://127.0.0.1:8787/, for this machine alone
  serve --port 8900                           at another port; --addr 8900, :8900 and localhost:8900 are the same
  serve --open --model anthropic              and a browser with it
  serve --addr 0.0.0.0:8787 --host box.local --token \"$(openssl rand -hex 24)\"
                                              for other machines, who have to bring the token
  serve --store postgres://db/toolwright --bus nats://nats:4222
                                              one of several nodes, in any order behind any balancer

Besides the console: /mcp for MCP clients, /api/chat for AI SDK front ends, /healthz, /readyz and /metrics.
Several nodes share a PostgreSQL store and a bus, which carries events between them: NATS, or for a few nodes `--bus store`, the
database of the store. [cluster] bus and node set the bus and the name of this process, which no other may have. One node needs no bus.
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
stderr says which, and why. Of several, as openai,anthropic, the next answers where one is overloaded or cannot
be reached. A VENDOR is one of:
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
  conversations assign notes --to ada           one from before there were sign-ins, to its person
  chat --conversation chat-018f2c-1a2b          go on with it

`chat` keeps them in conversations.sqlite in the folder of the program's name in $XDG_DATA_HOME, else in ~/.local/share.
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
    let vendors: Vec<&str> = VENDORS.iter().map(|vendor| vendor.name).collect();
    let lines: Vec<String> = vendors.chunks(10).map(|row| row.join(", ")).collect();
    CHAT_HELP.replace("@vendors@", &lines.join(",\n  "))
}

/// Define a tool once; list it, inspect it, call it.
#[derive(Parser)]
#[command(version, subcommand_required = false)]
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
    /// List, show, export, import, assign and delete conversations
    #[command(subcommand, after_help = CONVERSATIONS_HELP)]
    Conversations(ConversationsCommand),
    /// Back up, restore, verify and clean up the store of conversations
    #[command(subcommand, after_help = STORE_HELP)]
    Store(StoreCommand),
    /// List the nodes that serve conversations from the same store
    #[command(subcommand)]
    Nodes(NodesCommand),
    /// List and end the sessions of people who have signed in
    #[command(subcommand, after_help = SESSIONS_HELP)]
    Sessions(SessionsCommand),
    /// Show and reset what people have used of their quotas
    #[command(subcommand, after_help = QUOTA_HELP)]
    Quota(QuotaCommand),
    /// List, find, inspect and call tools
    #[command(subcommand)]
    Tools(ToolsCommand),
    /// List prompts, and fill one in
    #[command(subcommand)]
    Prompts(PromptsCommand),
    /// Check that every provider accepts every tool, and show what is lost
    #[command(after_help = CHECK_HELP)]
    Check(CheckArgs),
    /// Serve the tools over MCP on stdio; list the servers that the settings name
    #[command(
        args_conflicts_with_subcommands = true,
        after_help = "\
Examples:
  mcp                            serve every tool, linked or attached; for the configuration of an MCP client
  mcp --search                   the same as two tools, which search and call them; for clients that cannot take many
  mcp list                       the servers of [mcp.servers.NAME] and MCP.*: revision, latency, tools
  mcp accept NAME                take a tool back whose definition has changed since it was first seen
  mcp login NAME                 log in to a server with `oauth`; `mcp logout NAME` ends that

Servers are attached wherever tools are used: in toolwright.toml,
  [mcp.servers.files]
  command = \"mcp-server-filesystem\"
  args = [\"shared\"]
  [mcp.servers.wiki]
  url = \"https://wiki.example/mcp\"
  authorization = \"Bearer …\"
each with `prefix`, `trust` (nothing, hints, calls), `timeout_s` and `connect_s` where wanted. Calls are asked about
until a server is trusted.

Nothing but the protocol goes to stdout. The server ends when its parent does, and with Ctrl-C."
    )]
    Mcp {
        #[command(subcommand)]
        command: Option<McpCommand>,
        /// Serve the tools as two, `search_tools` and `call_tool`, for clients that cannot take many
        #[arg(long)]
        search: bool,
    },
    /// Show the settings in force
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Make a project with one tool and tests
    #[command(after_help = "\
Examples:
  new hello-tools --git https://git.example/toolwright    a program with every command
  new hello-tools --template mcp --path ../toolwright     an MCP server, with the toolwright of a checkout
  new hello-tools --template axum --published             a web application, with the toolwright of crates.io")]
    New(NewArgs),
    /// Write server.json, with which this program is listed in the MCP registry
    #[command(after_help = "\
Examples:
  publish --name io.github.ada/shop --cargo                                 a crate of crates.io, of this program's name
  publish --name io.github.ada/shop --image ghcr.io/ada/shop:1.2.0          a container image
  publish --name com.example/shop --remote https://shop.example/mcp         a server at an address

The version is that of this program. Nothing is uploaded: `mcp-publisher`, the registry's own program, does that.")]
    Publish(PublishArgs),
}

impl Default for Command {
    fn default() -> Self {
        Self::Serve(ServeArgs::default())
    }
}

#[derive(Subcommand)]
pub(crate) enum McpCommand {
    /// List the servers that the settings name, their tools and their prompts
    List {
        /// Print every note about a server, not only how many there are
        #[arg(long)]
        verbose: bool,
    },
    /// Accept a changed tool, prompt or authorization server
    Accept {
        /// The name of the tool or prompt, or of the server, as `mcp list` shows it
        name: String,
    },
    /// Log in to a server that uses OAuth
    #[command(after_help = "\
Prints a link. After the login the browser is redirected to a port of this machine; where that does not work, as over SSH, paste
the address that it shows in the end. The credential is stored encrypted, refreshed by itself, and read by programs that run.

The server has `oauth = \"shared\"` or \"personal\" in [mcp.servers.NAME], and if its authorization server wants it `client_id`,
`client_secret`, `issuer`, `scopes` or `client_metadata_url`.")]
    Login {
        /// The server's name in the settings
        name: String,
        /// Open the link in a browser
        #[arg(long)]
        open: bool,
        /// The port that the browser is redirected to, for a client that was registered with one [default: any that is free]
        #[arg(long, default_value_t = 0, hide_default_value = true)]
        port: u16,
    },
    /// Log out of a server: remove the credential, and revoke it
    Logout {
        /// The server's name in the settings
        name: String,
        /// Whose login, for a server with `oauth = \"personal\"` [default: the operator's]
        #[arg(long, value_name = "SUBJECT")]
        person: Option<String>,
    },
    /// Encrypt the credentials for servers with a new key
    #[command(after_help = "\
Adds a key to the key file, and encrypts everything with it. Keys of the variable TOOLWRIGHT_CREDENTIALS_KEY are changed there: set
`NEW,OLD` at every node, run this, then remove OLD.")]
    RotateKey,
}

#[derive(Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print every setting, its value and where it comes from; secrets are masked
    #[command(after_help = "\
Settings come from, later ones first: flags; variables (TOOLWRIGHT_ and the key in upper case, with _
for each dot); toolwright.toml, else toolwright.properties; defaults.

Ours are model, system, store and the sections bundles, cluster, console, credentials, defaults, journal, login, mcp, models, prices,
quota, scopes, server, tools, turn, WebSearchTool, MCP and MCP_1, MCP_2…: what is unknown there is an error, and so is a section or variable that
nearly has one of these names. Every other section is for tools to read.")]
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
    /// Hand one over to a person, who then owns it under the same ID; its turn has to be over
    Assign {
        /// The conversation's ID, as `conversations list` shows it
        id: String,
        /// The subject of the person, as tokens and logins name it
        #[arg(long, value_name = "SUBJECT")]
        to: String,
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
pub(crate) enum NodesCommand {
    /// List the nodes: name, version, address, running turns, and whether they shut down
    List,
}

const SESSIONS_HELP: &str = "\
Examples:
  sessions list --subject ada    the sessions of one person
  sessions end ID                end a session, at all nodes within 5 seconds
  sessions end --subject ada     sign a person out everywhere

A session is ended, not the token behind it: revoke that at its issuer.";

#[derive(Subcommand)]
pub(crate) enum SessionsCommand {
    /// List the sessions: their ids, to whom they belong, since when and until when
    List {
        /// Only those of this person
        #[arg(long, value_name = "NAME")]
        subject: Option<String>,
    },
    /// End a session, or all of a person
    #[command(arg_required_else_help = true)]
    End {
        /// The id of the session
        #[arg(required_unless_present = "subject", conflicts_with = "subject")]
        id: Option<String>,
        /// End all sessions of this person
        #[arg(long, value_name = "NAME")]
        subject: Option<String>,
    },
}

const QUOTA_HELP: &str = "\
Examples:
  quota show                     what everyone has used today
  quota show ada --role staff    one person, with the limits of a role
  quota reset ada                what ada has used counts no longer

The limits are those of [quota] and [quota.roles.ROLE]. Which roles a person has is known when they sign in, not here.";

#[derive(Subcommand)]
pub(crate) enum QuotaCommand {
    /// Show what people have used, and what is left
    Show {
        /// Only this person
        subject: Option<String>,
        /// A role that the people have; may be repeated
        #[arg(long = "role", value_name = "ROLE")]
        roles: Vec<String>,
    },
    /// Set what a person has used to nothing; turns that run go on, and count
    Reset {
        /// The person
        subject: String,
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

const SEARCH_HELP: &str = "\
Examples:
  tools search 'Will it rain in Oslo?'                       the tools that are linked or attached
  tools search --in tools.json -k 3 'book a flight'          a file of definitions, any shape
  tools search --in tools.json --json 'book a flight' | jq -r '.[].name'

The score compares the tools of one search: a word of a name counts more than one of a description, a rare word more than a
frequent one. A tool that no word of the question matches is not printed. With --json: an array of objects with `name` and `score`.
Exit codes: 0 also when nothing matches, 1 a file without a usable definition, 2 the command line was wrong or a file cannot be read.";

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
    /// Find the tools for a question, the best first
    #[command(after_help = SEARCH_HELP)]
    Search {
        /// The task in your own words, in any language; typos do no harm
        #[arg(required = true, value_name = "QUESTION")]
        question: Vec<String>,
        /// Search a file of tool definitions as OpenAI, Anthropic, Gemini, Ollama, Bedrock or MCP write them; `-` is stdin.
        /// Without it, the tools that are linked or attached are searched
        #[arg(long = "in", value_name = "FILE")]
        file: Option<PathBuf>,
        /// How many tools to print at most
        #[arg(short = 'k', long = "limit", value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
        limit: u16,
    },
    /// Call one tool and print its result
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
