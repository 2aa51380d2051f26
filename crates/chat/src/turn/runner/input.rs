//! Applies the inputs of a request: messages start a turn, approval responses and results resume one.

use toolwright_core::{CallId, Content, Invoker, Outcome, ToolResult};

use super::TurnRunner;
use crate::chat::event::{ApprovalResponse, ChatEvent};
use crate::chat::turn_request::TurnInput;
use crate::error::ChatError;
use crate::journal::Cause;
use crate::journal::closing::abandoned_reason;
use crate::journal::entry::{EntryBody, TurnEnd};
use crate::journal::store::owner::PrincipalRecord;

impl TurnRunner {
    pub(super) async fn apply_inputs(&self, inputs: Vec<TurnInput>) -> Result<(), ChatError> {
        let mut messages = Vec::new();
        for input in inputs {
            match input {
                TurnInput::Message(message) => messages.push(message),
                TurnInput::Prompt { name, arguments } => {
                    messages.push(self.render_prompt(name, &arguments).await?);
                }
                TurnInput::Results(results) => self.accept_results(results).await?,
                TurnInput::Approvals(responses) => self.accept_approvals(responses).await?,
            }
        }
        if !messages.is_empty() {
            let after = self.request.after.as_deref();
            let window = &self.request.options.window;
            let branch = match after {
                Some(after) => Some(self.journal.load_branch(after, window).await?),
                None => None,
            };
            let mut entries = self.cancel_open_turn();
            if let Some(branch) = branch {
                // The open turn is one of the branch that is left.
                if !entries.is_empty() {
                    self.journal.append(std::mem::take(&mut entries)).await?;
                }
                self.journal.replace_entries(branch);
            }
            entries.extend(messages);
            let cause = Cause { after, ..self.cause() };
            self.journal.append_caused(&cause, entries).await?;
        }
        match self.journal.state().entries.is_empty() {
            true => Err(ChatError::NoInput),
            false => Ok(()),
        }
    }

    async fn render_prompt(
        &self,
        name: String,
        arguments: &serde_json::Value,
    ) -> Result<EntryBody, ChatError> {
        let render = |invoker: Invoker| {
            let name = name.as_str();
            async move { invoker.render_prompt_in(&self.scope, name, arguments).await }
        };
        let mut rendered = render(self.invoker.clone()).await;
        // The tool selection of a request does not restrict the prompts of the registry.
        if matches!(&rendered, Err(failure) if failure.outcome == Outcome::UnknownTool) {
            rendered = render(self.request.chat.0.invoker.clone()).await;
        }
        match rendered {
            Ok(rendered) => {
                Ok(EntryBody::message(rendered.role, vec![Content::text(rendered.text)]))
            }
            Err(failure) => {
                let message = failure.text().into_owned();
                Err(ChatError::Prompt { name, message })
            }
        }
    }

    /// What the messages and approval responses of this request are caused by.
    fn cause(&self) -> Cause<'_> {
        Cause {
            principal: self.request.principal.as_ref(),
            item: self.request.inbox_item.as_ref(),
            after: None,
            parent: None,
        }
    }

    /// Returns the entries that end the turn that is still open when a new message arrives.
    fn cancel_open_turn(&self) -> Vec<EntryBody> {
        self.closing_entries(&TurnEnd::Cancelled, abandoned_reason).1
    }

    /// Appends the results of calls that the caller ran; open calls without one are rejected as not run.
    async fn accept_results(&self, mut results: Vec<ToolResult>) -> Result<(), ChatError> {
        let open: Vec<CallId> = {
            let state = self.journal.state();
            let open = state.turn.open_calls();
            open.map(|open| open.call.clone()).collect()
        };
        let result_ids: Vec<CallId> = results.iter().map(|result| result.call_id.clone()).collect();
        for (at, call) in result_ids.iter().enumerate() {
            if !open.contains(call) {
                return Err(rejected(call, "it does not wait for a result"));
            }
            if result_ids.iter().take(at).any(|before| before == call) {
                return Err(rejected(call, "there are two results of it"));
            }
        }
        for result in &mut results {
            if result.tool.as_str().is_empty() {
                result.tool = self.tool_name(&result.call_id);
            }
        }
        for call in &open {
            if !results.iter().any(|result| result.call_id == *call) {
                results.push(self.rejected_result(call, Outcome::Denied, "the call was not run"));
            }
        }
        self.finish_calls(results).await
    }

    /// Appends approval responses, all of them or none.
    async fn accept_approvals(&self, responses: Vec<ApprovalResponse>) -> Result<(), ChatError> {
        for (at, response) in responses.iter().enumerate() {
            let mut before = responses.iter().take(at);
            if before.any(|before| before.call == response.call) {
                return Err(rejected(&response.call, "there are two decisions about it"));
            }
            if !self.may_approve(&response.call) {
                let call = response.call.clone();
                return Err(ChatError::NotAllowed { call });
            }
            if let Some(reason) = self.rejection_reason(response) {
                return Err(rejected(&response.call, reason));
            }
        }
        let decided = responses.iter().map(|response| EntryBody::ApprovalDecided {
            call: response.call.clone(),
            verdict: response.verdict.clone(),
            mac: None,
        });
        let cause = Cause { principal: self.approver(), ..self.cause() };
        self.journal.append_caused(&cause, decided).await?;
        for ApprovalResponse { call, verdict, .. } in responses {
            self.events.emit(ChatEvent::ApprovalDecided { call, verdict });
        }
        Ok(())
    }

    /// The principal that decides: the one that sent the inbox item, which may be another than the turn runs for.
    fn approver(&self) -> Option<&PrincipalRecord> {
        match &self.request.inbox_item {
            Some(item) => item.principal.as_ref(),
            None => self.request.principal.as_ref(),
        }
    }

    /// Returns true if the tool's policy lets this request's principal decide, or the call needs no approval.
    fn may_approve(&self, call: &CallId) -> bool {
        if !self.journal.state().turn.is_awaiting_approval(call) {
            return true;
        }
        let approvers = self.find_pending_call(call).map(|pending| pending.approvers);
        let approver = self.approver();
        let roles = approver.iter().flat_map(|approver| &approver.roles).map(String::as_str);
        let state = self.journal.state();
        let owner = PrincipalRecord::of_last_turn(&state.entries);
        let owner = owner.map(|owner| owner.subject.as_str());
        let subject = approver.map(|approver| approver.subject.as_str());
        approvers.unwrap_or_default().allow(owner, subject, roles)
    }

    /// Returns why an approval response is rejected.
    fn rejection_reason(&self, response: &ApprovalResponse) -> Option<&'static str> {
        let requested = self.journal.approval_request(&response.call);
        let now = self.journal.now();
        let turn = &self.journal.state().turn;
        if turn.verdict(&response.call).is_some() {
            return Some("it is decided already");
        }
        if !turn.is_awaiting_approval(&response.call) {
            return Some("it does not wait for a decision");
        }
        match requested {
            Some((_, token)) if token == response.token => {
                (token.expires() <= now).then_some("the approval has expired")
            }
            _ => Some("the token is not the one that was asked with"),
        }
    }
}

fn rejected(call: &CallId, reason: &str) -> ChatError {
    ChatError::Rejected { call: call.clone(), reason: reason.to_owned() }
}
