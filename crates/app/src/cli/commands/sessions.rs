//! `sessions list|end`: the sessions of people who have signed in.

use std::process::ExitCode;

use jiff::Timestamp;
use serde_json::{Value, json};
use toolwright_chat::Owner;
use toolwright_core::SharedStateError;
use toolwright_server::{LoginSession, LoginSessions};

use crate::cli::args::SessionsCommand;
use crate::cli::cli_error::{CliError, error_chain};
use crate::cli::commands::store::open_persistent;
use crate::cli::runtime;
use crate::cli::terminal::{output, sanitize};
use crate::project::Project;

/// The maximum number of sessions that are listed or ended.
const MAX_LISTED: usize = 10_000;

pub(crate) fn execute(
    command: SessionsCommand,
    json: bool,
    project: &Project,
) -> Result<ExitCode, CliError> {
    let runtime = runtime::build_runtime()?;
    runtime.block_on(async {
        let opened = open_persistent(project).await?;
        let sessions = LoginSessions::new(opened.store().shared_state());
        match command {
            SessionsCommand::List { subject } => list(&sessions, subject, json).await,
            SessionsCommand::End { id, subject } => end(&sessions, id, subject, json).await,
        }
    })
}

async fn list(
    sessions: &LoginSessions,
    subject: Option<String>,
    json: bool,
) -> Result<ExitCode, CliError> {
    let owner = subject.map(Owner::Subject);
    let listed = sessions.list(owner.as_ref(), MAX_LISTED).await.map_err(failure)?;
    if json {
        let listed: Vec<Value> = listed.iter().map(to_json).collect();
        output::print_text(&format!("{}\n", sanitize::to_safe_json_pretty(&listed)))?;
    } else {
        output::print_text(&listed.iter().map(to_line).collect::<String>())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Ends one session, or all of a subject; exit code 1 if the session does not exist.
async fn end(
    sessions: &LoginSessions,
    id: Option<String>,
    subject: Option<String>,
    json: bool,
) -> Result<ExitCode, CliError> {
    let ids = match (&id, subject.map(Owner::Subject)) {
        (Some(id), _) => vec![id.clone()],
        (None, owner) => {
            let listed = sessions.list(owner.as_ref(), MAX_LISTED).await.map_err(failure)?;
            listed.into_iter().map(|session| session.id).collect()
        }
    };
    let mut ended = 0;
    for id in ids {
        ended += usize::from(sessions.end(&id).await.map_err(failure)?);
    }
    if ended == 0 && id.is_some() {
        return Err(CliError::failure("there is no session of this id: `sessions list` shows all"));
    }
    match json {
        true => output::print_json(&json!({ "ended": ended }))?,
        false => output::print_stderr(&format!("{ended} sessions ended\n")),
    }
    Ok(ExitCode::SUCCESS)
}

fn failure(error: SharedStateError) -> CliError {
    CliError::failure(error_chain(&error))
}

fn to_json(session: &LoginSession) -> Value {
    json!({
        "id": session.id,
        "subject": subject(session),
        "name": session.name,
        "provider": session.provider,
        "began": session.began,
        "expires": session.expires,
    })
}

fn to_line(session: &LoginSession) -> String {
    let time = |millis: u64| {
        let time = i64::try_from(millis).ok();
        let time = time.and_then(|millis| Timestamp::from_millisecond(millis).ok());
        time.map_or_else(String::new, |at| format!("{at:.0}"))
    };
    let owner = subject(session).unwrap_or("(operator)");
    // A provider has chosen the name.
    let name = session.name.as_deref().map(sanitize::sanitize_label);
    let name = name.map_or_else(String::new, |name| format!(" ({name})"));
    let (began, expires) = (time(session.began), time(session.expires));
    format!("{}  {owner}{name}  {began} until {expires}\n", session.id)
}

fn subject(session: &LoginSession) -> Option<&str> {
    match &session.owner {
        Owner::Subject(subject) => Some(subject),
        _ => None,
    }
}
