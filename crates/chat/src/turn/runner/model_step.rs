//! The history and the tools in, one step of the model out.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::StreamExt as _;
use sha2::{Digest as _, Sha256};
use tokio::task::coop::consume_budget;
use tokio::time::sleep;
use toolwright_core::schema::canonical_json;
use toolwright_core::{CallId, Content, ToolCall, ToolName};
use tracing::Instrument as _;

use super::TurnRunner;
use super::telemetry;
use crate::chat::event::ChatEvent;
use crate::error::{ChatError, ModelError, ModelErrorKind};
use crate::journal::entry::{CallMetadata, EntryBody, TurnEnd};
use crate::model::item::{Item, ItemKind, Step};
use crate::model::usage::{StopReason, Usage};
use crate::model::{ModelEvent, ModelRequest, ToolChoice};

impl TurnRunner {
    /// Asks the model once, and tells the journal what it answers.
    ///
    /// Returns how the turn ends, if it ends before the answer does.
    pub(super) async fn call_model(&self) -> Result<Option<TurnEnd>, ChatError> {
        let span =
            telemetry::model_span(self.request.options.model.id(), &self.journal.conversation);
        let mut heard = StepAccumulator::default();
        let ended = self.read_stream(&mut heard).instrument(span.clone()).await;
        telemetry::record_outcome(&span, &ended, &heard.finished);
        match ended {
            Ok(None) => self.append_step(heard).await.map(|()| None),
            Ok(Some(end)) => {
                self.append_partial_text(heard).await?;
                Ok(Some(end))
            }
            Err(error) => {
                self.append_partial_text(heard).await?;
                Err(error.into())
            }
        }
    }

    /// Hears an answer out; else returns why the turn ends before.
    async fn read_stream(
        &self,
        heard: &mut StepAccumulator,
    ) -> Result<Option<TurnEnd>, ModelError> {
        let now = self.journal.now();
        let left = self.journal.state().turn.deadline().saturating_sub(now);
        let mut late = pin!(sleep(Duration::from_millis(left)));
        let mut events = self.request.options.model.stream(self.model_request());
        loop {
            // An answer that is all there already must not keep everybody else from getting a word in.
            consume_budget().await;
            let event = tokio::select! {
                biased;
                () = self.request.cancel.cancelled() => return Ok(Some(TurnEnd::Cancelled)),
                () = &mut late => {
                    let seconds = self.request.options.limits.time.as_secs();
                    let reason = format!("it took {seconds} seconds");
                    return Ok(Some(TurnEnd::Limit { reason }));
                }
                event = events.next() => event,
            };
            match event {
                Some(event) => heard.on_event(event?, &|event| self.events.emit(event)),
                None if heard.finished.is_some() => return Ok(None),
                None => {
                    let message = "the answer ended before it was finished";
                    return Err(ModelError::new(ModelErrorKind::Protocol, message));
                }
            }
        }
    }

    fn model_request(&self) -> ModelRequest {
        let terms = &self.request.options;
        let told = self.journal.state();
        let choice = match &terms.tool_choice {
            // Once a tool was called the wish is fulfilled; asked again, the model could never answer.
            ToolChoice::Required | ToolChoice::Named(_) if told.turn.steps() > 0 => {
                ToolChoice::Auto
            }
            choice => choice.clone(),
        };
        let hosted = terms.hosted_tools.iter();
        ModelRequest {
            system: terms.system.clone(),
            messages: terms.window.select_messages(&told.entries),
            tools: Arc::clone(&self.tools),
            hosted_tools: hosted
                .filter(|hosted| terms.model.supports_hosted_tool(hosted))
                .cloned()
                .collect(),
            tool_choice: choice,
            response_format: self.request.response_format.clone(),
            options: terms.model_options.clone(),
        }
    }

    /// Keeps the text of an answer that was cut off: the person has read it.
    async fn append_partial_text(&self, heard: StepAccumulator) -> Result<(), ChatError> {
        if heard.text.is_empty() {
            return Ok(());
        }
        let content = vec![Content::text(heard.text)];
        self.journal
            .append([EntryBody::Assistant { content }])
            .await?;
        Ok(())
    }

    /// Tells the journal a whole answer, and who has to decide what before its calls run.
    async fn append_step(&self, heard: StepAccumulator) -> Result<(), ChatError> {
        let (stop, usage) = heard.finished.unwrap_or_default();
        let model = self.request.options.model.id().clone();
        let cost = self.request.chat.0.prices.cost(&model, &usage);
        let step = Arc::new(Step::new(model, heard.items, stop.clone(), usage));
        let mut calls = Vec::<CallMetadata>::new();
        for facts in step
            .items
            .iter()
            .filter_map(|item| self.item_metadata(item))
        {
            if !calls.iter().any(|known| known.call == facts.call) {
                calls.push(facts);
            }
        }
        let ids: Vec<CallId> = calls.iter().map(|facts| facts.call.clone()).collect();
        let mut told = vec![EntryBody::Step {
            step: Arc::clone(&step),
            calls,
            cost,
        }];
        told.extend(self.approval_requests(&step));
        self.journal.append(told).await?;
        self.events.emit(ChatEvent::Step { stop, usage, cost });
        for asked in self.pending_approvals(&ids) {
            self.events.emit(ChatEvent::ApprovalRequested(asked));
        }
        Ok(())
    }

    /// What somebody has to decide before the calls of a step run.
    fn approval_requests(&self, step: &Step) -> Vec<EntryBody> {
        // Whoever runs our calls decides about them; about a vendor's, somebody else has to.
        let ours = |item: &&Item| matches!(item.kind, ItemKind::Call { .. });
        let items = step.items.iter();
        let items = items.filter(|item| !self.request.options.manual_calls || !ours(item));
        let pending = items.filter_map(|item| self.pending_call_of_item(&item.kind));
        let asked = pending.map(|pending| EntryBody::ApprovalRequested {
            call: pending.call.id.clone(),
            token: pending.request().issue_token(),
            arguments: pending.arguments,
        });
        asked.collect()
    }

    /// What the turn has to know about an item that is a call.
    fn item_metadata(&self, item: &Item) -> Option<CallMetadata> {
        match &item.kind {
            ItemKind::Call { call } => Some(self.call_metadata(call)),
            ItemKind::HostedApproval {
                id,
                server,
                tool,
                arguments,
            } => {
                let name = format!("{server}.{tool}");
                let digest = call_digest(&name, arguments);
                Some(CallMetadata::new(id.as_str(), name, digest))
            }
            _ => None,
        }
    }

    fn call_metadata(&self, call: &ToolCall) -> CallMetadata {
        let snapshot = self.invoker.snapshot().ok();
        let entry = snapshot
            .as_deref()
            .and_then(|snapshot| snapshot.find(call.name.as_str()));
        let name = entry.map_or(&call.name, |entry| &entry.spec().name);
        let digest = call_digest(name.as_str(), call.arguments.as_str());
        let mut facts = CallMetadata::new(call.id.clone(), ToolName::clone(name), digest);
        if let Some(entry) = entry {
            facts.read_only = entry.spec().hints.read_only == Some(true);
            facts.idempotent = entry.spec().hints.idempotent == Some(true);
            facts.return_direct = entry.policy().return_direct;
        }
        facts
    }
}

/// What was heard of an answer so far.
#[derive(Default)]
struct StepAccumulator {
    text: String,
    items: Vec<Item>,
    /// The ids of the calls, under the numbers that deltas have.
    call_ids: HashMap<usize, CallId>,
    finished: Option<(StopReason, Usage)>,
}

impl StepAccumulator {
    fn on_event(&mut self, event: ModelEvent, tell: &dyn Fn(ChatEvent)) {
        match event {
            ModelEvent::RequestSent(body) => tell(ChatEvent::RequestSent { body }),
            ModelEvent::Text(delta) => {
                self.text.push_str(&delta);
                tell(ChatEvent::Text { delta });
            }
            ModelEvent::Reasoning(delta) => tell(ChatEvent::Reasoning { delta }),
            ModelEvent::CallBegins { index, id, name } => {
                self.call_ids.insert(index, id.clone());
                tell(ChatEvent::CallBegins {
                    call: id,
                    tool: name,
                });
            }
            ModelEvent::CallDelta { index, delta } => {
                if let Some(call) = self.call_ids.get(&index).cloned() {
                    tell(ChatEvent::CallDelta { call, delta });
                }
            }
            ModelEvent::Item(mut item) => {
                self.make_id_unique(&mut item);
                match &item.kind {
                    ItemKind::Call { call } => tell(ChatEvent::Call { call: call.clone() }),
                    ItemKind::HostedCall {
                        tool,
                        input,
                        output,
                        failed,
                    } => tell(ChatEvent::HostedCall {
                        tool: tool.clone(),
                        input: input.clone(),
                        output: output.clone(),
                        failed: *failed,
                    }),
                    _ => {}
                }
                self.items.push(item);
            }
            ModelEvent::Finished { stop, usage } => self.finished = Some((stop, usage)),
        }
    }

    /// Gives a call another id if one before has the same: each has a result of its own.
    fn make_id_unique(&self, item: &mut Item) {
        let ItemKind::Call { call } = &mut item.kind else {
            return;
        };
        let taken = |id: &str| {
            self.items.iter().any(|item| match &item.kind {
                ItemKind::Call { call } => call.id == *id,
                ItemKind::HostedApproval { id: hosted, .. } => hosted == id,
                _ => false,
            })
        };
        let first = call.id.clone();
        for number in 2.. {
            if !call.id.as_str().is_empty() && !taken(call.id.as_str()) {
                break;
            }
            call.id = format!("{first}_{number}").into();
            // What the protocol said has the old id.
            item.raw = None;
        }
    }
}

/// The same for calls of one tool with the same arguments, however they are written.
fn call_digest(tool: &str, arguments: &str) -> String {
    let arguments = match serde_json::from_str(arguments) {
        Ok(value) => canonical_json(&value).to_string(),
        Err(_) => arguments.to_owned(),
    };
    let digest = Sha256::digest(format!("{tool}\n{arguments}"));
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
