//! A person at the terminal, asked before a dangerous call.

use std::io::{self, IsTerminal as _, Write as _};

use futures::future::BoxFuture;
use toolwright_core::{ApprovalRequest, Approve, Decision};

/// Asks on stderr and reads the answer from stdin; without a terminal the answer is no.
pub(crate) struct Terminal {
    /// `--yes` was given: the person has answered already.
    pub(crate) yes: bool,
}

impl Approve for Terminal {
    fn approve<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, Decision> {
        Box::pin(async move {
            if self.yes {
                return request.approve();
            }
            if !io::stdin().is_terminal() {
                return request.deny("it needs approval: run it in a terminal, or pass --yes");
            }
            let question = question(&request);
            // Reading a line blocks, so it is left to a thread that may.
            let answer = tokio::task::spawn_blocking(move || ask(&question)).await;
            match answer {
                Ok(Ok(answer)) if matches!(answer.trim(), "y" | "Y" | "yes") => request.approve(),
                Ok(Ok(_)) => request.deny("not approved"),
                _ => request.deny("the terminal did not answer"),
            }
        })
    }
}

fn question(request: &ApprovalRequest<'_>) -> String {
    let tool = request.tool;
    let arguments = serde_json::to_string_pretty(request.arguments).unwrap_or_default();
    format!(
        "{} ({})\n{}\n{arguments}\nRun it? [y/N] ",
        tool.display_name(),
        tool.name,
        tool.description,
    )
}

fn ask(question: &str) -> io::Result<String> {
    let mut err = io::stderr().lock();
    err.write_all(question.as_bytes())?;
    err.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(answer)
}
