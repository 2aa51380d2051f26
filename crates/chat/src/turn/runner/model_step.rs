//! One step of the model: sends the history and the tools, and appends the answer to the journal.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;

use data_encoding::HEXLOWER;
use futures::stream::StreamExt as _;
use sha2::{Digest as _, Sha256};
use tokio::task::coop::consume_budget;
use toolwright_core::schema::canonical_json;
use toolwright_core::{Arguments, CallId, ToolCall, ToolName};
use tracing::Instrument as _;

use super::TurnRunner;
use super::deferred_tools::DeferredTools;
use super::telemetry;
use crate::chat::event::ChatEvent;
use crate::chat::tool_search::definitions_size;
use crate::error::{ChatError, ModelError, ModelErrorKind};
use crate::journal::entry::{CallMetadata, EntryBody, TurnEnd};
use crate::journal::window::{HistoryWindow, estimate_text_tokens};
use crate::model::item::{Item, ItemKind, Step};
use crate::model::usage::{StopReason, Usage};
use crate::model::{ModelEvent, ModelId, ModelRequest, ToolChoice};
use crate::turn::TurnAction;

impl TurnRunner {
    /// Calls the model once, and appends its answer.
    ///
    /// Returns why the turn ends, if it ends before the answer is complete, or else the calls that run next, if their start is
    /// appended already.
    pub(super) async fn call_model(&self) -> Result<StepOutcome, ChatError> {
        let span =
            telemetry::model_span(self.request.options.model.id(), &self.journal.conversation);
        let mut step = StepAccumulator::default();
        let ended = self.read_stream(&mut step).instrument(span.clone()).await;
        let (stop, usage) =
            step.finished.take().unwrap_or((StopReason::Interrupted, Usage::default()));
        let output = step.estimate_output();
        // A request that failed before its answer began has used nothing.
        let used_nothing = ended.is_err() && output == 0;
        let usage = match used_nothing {
            true => usage,
            false => usage.or_estimate(|| self.estimate_input(), output),
        };
        telemetry::record_outcome(&span, &ended, step.model.as_ref(), &stop, usage);
        match ended {
            Ok(None) => self.append_step(step, stop, usage).await.map(StepOutcome::Complete),
            Ok(Some(end)) => {
                self.append_interrupted_step(step, usage, end.clone()).await?;
                Ok(StepOutcome::TurnEnds(end))
            }
            Err(error) if used_nothing => Err(error.into()),
            Err(error) => {
                let end = TurnEnd::Failed { reason: error.to_string() };
                self.append_interrupted_step(step, usage, end).await?;
                Err(error.into())
            }
        }
    }

    /// Reads the stream of an answer to its end; returns why the turn ends, if that is earlier.
    async fn read_stream(&self, step: &mut StepAccumulator) -> Result<Option<TurnEnd>, ModelError> {
        let model = &self.request.options.model;
        self.check_price(model.id())?;
        let mut time_is_up = pin!(self.time_limit());
        let mut cancelled = pin!(self.request.cancel.cancelled());
        let mut events = model.stream(self.model_request());
        loop {
            // A stream that is always ready must not starve other tasks.
            consume_budget().await;
            let event = tokio::select! {
                biased;
                () = &mut cancelled => return Ok(Some(TurnEnd::Cancelled)),
                end = &mut time_is_up => return Ok(Some(end)),
                event = events.next() => event,
            };
            match event {
                Some(event) => {
                    let event = event?;
                    if let ModelEvent::Fallback { model, .. } = &event {
                        self.check_price(model)?;
                    }
                    let deferred = self.deferred.as_ref();
                    step.on_event(event, deferred, &|event| self.events.emit(event));
                }
                None if step.finished.is_some() => return Ok(None),
                None => {
                    let message = "the answer ended before it was finished";
                    return Err(ModelError::new(ModelErrorKind::Protocol, message));
                }
            }
        }
    }

    fn model_request(&self) -> ModelRequest {
        let options = &self.request.options;
        let state = self.journal.state();
        let tool_choice = match &options.tool_choice {
            // Required in every step, the model could never answer.
            ToolChoice::Required | ToolChoice::Named(_) if state.turn.steps() > 0 => {
                ToolChoice::Auto
            }
            choice => choice.clone(),
        };
        let hosted = options.hosted_tools.iter().filter(|hosted| {
            self.request.selection.keeps_hosted(hosted.name())
                && options.model.supports_hosted_tool(hosted)
        });
        let messages = options.window.select_messages(&state.entries);
        let deferred = self.deferred.as_ref();
        ModelRequest {
            system: options.system.clone(),
            native_search: deferred.and_then(|deferred| deferred.native_search(&messages)),
            messages: match &self.request.map_messages {
                Some(change) => change(messages),
                None => messages,
            },
            tools: Arc::clone(&self.tools),
            hosted_tools: hosted.cloned().collect(),
            tool_choice,
            response_format: self.request.response_format.clone(),
            options: options.model_options.clone(),
        }
    }

    /// Returns an error if the cost of the turn is limited and the price of the model not known: the limit would not be kept.
    fn check_price(&self, model: &ModelId) -> Result<(), ModelError> {
        let options = &self.request.options;
        let is_limited = options.limits.cost.is_some() || options.requires_price;
        if !is_limited || self.request.chat.knows_price(model) {
            return Ok(());
        }
        let message = format!(
            "the cost is limited, and the price of `{model}` is not known: the operator sets it in [prices]"
        );
        Err(ModelError::new(ModelErrorKind::Forbidden, message))
    }

    /// Estimates the tokens of the request, for a vendor that reports none.
    fn estimate_input(&self) -> u64 {
        let request = self.model_request();
        let dialect = self.request.options.model.tool_dialect();
        let bytes = definitions_size(&request.tools, dialect)
            + request.system.as_ref().map_or(0, String::len);
        let tokens =
            HistoryWindow::estimate_tokens(&request.messages) + estimate_text_tokens(bytes);
        u64::try_from(tokens).unwrap_or(u64::MAX)
    }

    /// Appends what an answer had when it was interrupted, and the end of the turn: the user has seen it, and the vendor counts it.
    async fn append_interrupted_step(
        &self,
        step: StepAccumulator,
        usage: Usage,
        end: TurnEnd,
    ) -> Result<(), ChatError> {
        let stop = StopReason::Interrupted;
        let model = self.answering_model(step.model);
        let cost = self.request.chat.0.prices.cost(&model, &usage);
        // Calls are left out: their arguments may not be whole.
        let text = Some(step.text).filter(|text| !text.is_empty());
        let items = text.map(Item::text).into_iter().collect();
        let step = Arc::new(Step::new(model, items, stop.clone(), usage));
        let step = EntryBody::Step { step, calls: Vec::new(), cost };
        self.journal.append([step, EntryBody::TurnEnded { end }]).await?;
        self.events.emit(ChatEvent::Step { stop, usage, cost });
        Ok(())
    }

    /// Returns the model that answers: the one of the request, unless another one fell in for it.
    fn answering_model(&self, fallback: Option<ModelId>) -> ModelId {
        fallback.unwrap_or_else(|| self.request.options.model.id().clone())
    }

    /// Appends a complete answer, and the approvals that its calls need.
    ///
    /// Returns the calls that run next, if their start is appended already.
    async fn append_step(
        &self,
        step: StepAccumulator,
        stop: StopReason,
        usage: Usage,
    ) -> Result<Vec<CallId>, ChatError> {
        let model = self.answering_model(step.model);
        let cost = self.request.chat.0.prices.cost(&model, &usage);
        let step = Arc::new(Step::new(model, step.items, stop.clone(), usage));
        let mut calls = Vec::<CallMetadata>::new();
        for metadata in step.items.iter().filter_map(|item| self.item_metadata(item)) {
            if !calls.iter().any(|known| known.call == metadata.call) {
                calls.push(metadata);
            }
        }
        let ids: Vec<CallId> = calls.iter().map(|metadata| metadata.call.clone()).collect();
        let mut entries = vec![EntryBody::Step { step: Arc::clone(&step), calls, cost }];
        entries.extend(self.approval_requests(&step));
        let following = self.following_action(&entries);
        let mut calls = Vec::new();
        match following {
            Some(TurnAction::RunCalls(runnable)) => {
                entries.extend(self.first_starts(&runnable, &entries));
                calls = runnable;
            }
            // Calls that do not run get their results first.
            Some(TurnAction::EndTurn(end)) if ids.is_empty() => {
                entries.push(EntryBody::TurnEnded { end });
            }
            _ => {}
        }
        self.journal.append(entries).await?;
        self.events.emit(ChatEvent::Step { stop, usage, cost });
        for approval in self.pending_approvals(&ids) {
            self.events.emit(ChatEvent::ApprovalRequested(Box::new(approval)));
        }
        Ok(calls)
    }

    /// Returns the action that follows a step without waiting, so that its first entries are appended with the step.
    fn following_action(&self, entries: &[EntryBody]) -> Option<TurnAction> {
        let waits = self.request.options.manual_calls || self.request.cancel.is_cancelled();
        (!waits).then(|| self.journal.action_after(entries))
    }

    /// Returns the starts of the calls that may run again, and of the first one that does not run beside others: the rest of
    /// those run after it.
    ///
    /// After a replayable call that waits for the approval of a child call, none with an effect runs.
    fn first_starts(&self, calls: &[CallId], entries: &[EntryBody]) -> Vec<EntryBody> {
        let metadata = entries.iter().flat_map(|entry| match entry {
            EntryBody::Step { calls, .. } => calls.as_slice(),
            _ => &[],
        });
        let known = |call: &CallId| metadata.clone().find(|known| known.call == *call);
        let is_sequential = |call: &&CallId| known(call).is_none_or(|known| !known.read_only);
        let sequential = calls.iter().find(is_sequential);
        let may_wait = metadata.clone().any(|known| known.replayable);
        let can_rerun = |known: &CallMetadata| known.read_only || (known.can_rerun() && !may_wait);
        let starts =
            |call: &&CallId| known(call).is_some_and(can_rerun) || Some(*call) == sequential;
        let first: Vec<CallId> = calls.iter().filter(starts).cloned().collect();
        self.started().extend(first.iter().cloned());
        first.into_iter().map(|call| EntryBody::CallStarted { call }).collect()
    }

    /// Returns the approval requests for the calls of a step.
    fn approval_requests(&self, step: &Step) -> Vec<EntryBody> {
        // A caller that runs our calls itself also decides about them, but not about those of the vendor.
        let ours = |item: &&Item| matches!(item.kind, ItemKind::Call { .. });
        let items = step.items.iter();
        let items = items.filter(|item| !self.request.options.manual_calls || !ours(item));
        let pending = items.filter_map(|item| self.pending_call_of_item(&item.kind));
        let requests = pending.map(|pending| EntryBody::ApprovalRequested {
            call: pending.call.id.clone(),
            token: pending.request().issue_token(),
            arguments: pending.arguments,
        });
        requests.collect()
    }

    /// Returns the metadata of an item that is a call.
    fn item_metadata(&self, item: &Item) -> Option<CallMetadata> {
        match &item.kind {
            ItemKind::Call { call } => Some(self.call_metadata(call)),
            ItemKind::HostedApproval { arguments, .. } => {
                let (id, name) = item.kind.call_id_and_name()?;
                let digest = call_digest(name.as_str(), &arguments.as_str().into());
                Some(CallMetadata::new(id, name, digest))
            }
            _ => None,
        }
    }

    pub(super) fn call_metadata(&self, call: &ToolCall) -> CallMetadata {
        let snapshot = self.invoker_of(call).snapshot().ok();
        let entry = snapshot.as_deref().and_then(|snapshot| snapshot.find(call.name.as_str()));
        let name = entry.map_or(&call.name, |entry| &entry.spec().name);
        let digest = call_digest(name.as_str(), &call.arguments);
        let mut metadata = CallMetadata::new(call.id.clone(), ToolName::clone(name), digest);
        if let Some(entry) = entry {
            metadata.read_only = entry.spec().hints.read_only == Some(true);
            metadata.idempotent = entry.spec().hints.idempotent == Some(true);
            metadata.return_direct = entry.policy().return_direct;
            metadata.replayable = entry.policy().replayable;
        }
        metadata
    }
}

/// How a step of the model ends.
pub(super) enum StepOutcome {
    /// It is complete; these calls run next, and the first of them are recorded as started.
    Complete(Vec<CallId>),
    /// The turn ends before the step is complete.
    TurnEnds(TurnEnd),
}

/// Collects the events of an answer into a step.
#[derive(Default)]
struct StepAccumulator {
    /// The model that answers, if it is not the one of the request.
    model: Option<ModelId>,
    text: String,
    /// The bytes of all deltas.
    streamed_bytes: usize,
    items: Vec<Item>,
    /// The ids of the calls, by the index that deltas carry.
    call_ids: HashMap<usize, CallId>,
    finished: Option<(StopReason, Usage)>,
}

impl StepAccumulator {
    fn on_event(
        &mut self,
        event: ModelEvent,
        deferred: Option<&DeferredTools>,
        emit: &dyn Fn(ChatEvent),
    ) {
        if let ModelEvent::Text(delta)
        | ModelEvent::Reasoning(delta)
        | ModelEvent::CallDelta { delta, .. } = &event
        {
            self.streamed_bytes = self.streamed_bytes.saturating_add(delta.len());
        }
        match event {
            ModelEvent::RequestSent(body) => emit(ChatEvent::RequestSent { body }),
            ModelEvent::Fallback { model, reason } => {
                self.model = Some(model.clone());
                emit(ChatEvent::Fallback { model, reason });
            }
            ModelEvent::Text(delta) => {
                self.text.push_str(&delta);
                emit(ChatEvent::Text { delta });
            }
            ModelEvent::Reasoning(delta) => emit(ChatEvent::Reasoning { delta }),
            // It is shown as a call of the tool that its arguments name, once they are complete.
            ModelEvent::CallBegins { name, .. }
                if deferred.is_some_and(|deferred| deferred.is_call_tool(name.as_str())) => {}
            ModelEvent::CallBegins { index, id, name } => {
                self.call_ids.insert(index, id.clone());
                emit(ChatEvent::CallBegins { call: id, tool: name });
            }
            ModelEvent::CallDelta { index, delta } => {
                if let Some(call) = self.call_ids.get(&index).cloned() {
                    emit(ChatEvent::CallDelta { call, delta });
                }
            }
            ModelEvent::Item(mut item) => {
                self.make_id_unique(&mut item);
                if let Some(deferred) = deferred {
                    let is_named = is_call_of(&item, |name| deferred.is_call_tool(name));
                    deferred.resolve_item(&mut item);
                    if let ItemKind::Call { call } = &item.kind
                        && is_named
                    {
                        let (id, tool) = (call.id.clone(), call.name.clone());
                        emit(ChatEvent::CallBegins { call: id.clone(), tool });
                        let delta = call.arguments.to_string();
                        emit(ChatEvent::CallDelta { call: id, delta });
                    }
                }
                match &item.kind {
                    ItemKind::Call { call } => emit(ChatEvent::Call { call: call.clone() }),
                    ItemKind::HostedCall { tool, input, output, failed } => {
                        emit(ChatEvent::HostedCall {
                            tool: tool.clone(),
                            input: input.clone(),
                            output: output.clone(),
                            failed: *failed,
                        })
                    }
                    _ => {}
                }
                self.items.push(item);
            }
            ModelEvent::Finished { stop, usage } => self.finished = Some((stop, usage)),
        }
    }

    /// Estimates the tokens of the answer so far, for a vendor that reports none; 0 if it has not begun.
    fn estimate_output(&self) -> u64 {
        let items = self.items.iter().map(|item| match &item.kind {
            ItemKind::Text { text } | ItemKind::Reasoning { text } | ItemKind::Refusal { text } => {
                text.len()
            }
            ItemKind::Call { call } => call.name.as_str().len() + call.arguments.as_str().len(),
            _ => 0,
        });
        // A model may stream deltas, or complete items alone.
        let bytes = self.streamed_bytes.max(items.sum());
        u64::try_from(estimate_text_tokens(bytes)).unwrap_or(u64::MAX)
    }

    /// Changes the id of a call if an earlier one has the same, so that each has its own result.
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
            // The provider's JSON has the old id.
            item.raw = None;
        }
    }
}

fn is_call_of(item: &Item, is_tool: impl Fn(&str) -> bool) -> bool {
    matches!(&item.kind, ItemKind::Call { call } if is_tool(call.name.as_str()))
}

/// Returns a digest of a call: the same for one tool and equal arguments, whatever their formatting.
fn call_digest(tool: &str, arguments: &Arguments) -> String {
    let arguments = match arguments.as_value() {
        Some(value) => canonical_json(value).to_string(),
        // Of text that no tool accepts, such as that with a key twice.
        None => match serde_json::from_str(arguments.as_str()) {
            Ok(value) => canonical_json(&value).to_string(),
            Err(_) => arguments.to_string(),
        },
    };
    HEXLOWER.encode(&Sha256::digest(format!("{tool}\n{arguments}")))
}
