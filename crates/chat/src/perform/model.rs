//! The history and the tools in, one step of the model out.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::StreamExt as _;
use sha2::{Digest as _, Sha256};
use tokio::task::coop::consume_budget;
use tokio::time::sleep;
use toolwright_core::schema::canonical;
use toolwright_core::{CallId, Content, ToolCall, ToolName};
use tracing::Instrument as _;

use super::Performance;
use crate::entry::{CallFacts, End, What};
use crate::error::{ChatError, ModelError, ModelErrorKind};
use crate::event::ChatEvent;
use crate::item::{Item, ItemKind, Step};
use crate::model::{ModelEvent, ModelRequest, ToolChoice};
use crate::telemetry;
use crate::usage::{Stop, Usage};

impl Performance {
    /// Asks the model once, and tells the journal what it answers.
    ///
    /// Returns how the turn ends, if it ends before the answer does.
    pub(super) async fn ask_model(&self) -> Result<Option<End>, ChatError> {
        let span = telemetry::asking(self.ask.terms.model.id(), &self.journal.conversation);
        let mut heard = Heard::default();
        let ended = self.listen(&mut heard).instrument(span.clone()).await;
        telemetry::answered(&span, &ended, &heard.ended);
        match ended {
            Ok(None) => self.answered(heard).await.map(|()| None),
            Ok(Some(end)) => {
                self.keep_what_was_said(heard).await?;
                Ok(Some(end))
            }
            Err(error) => {
                self.keep_what_was_said(heard).await?;
                Err(error.into())
            }
        }
    }

    /// Hears an answer out; else returns why the turn ends before.
    async fn listen(&self, heard: &mut Heard) -> Result<Option<End>, ModelError> {
        let now = self.journal.now();
        let left = self.journal.told().turn.deadline().saturating_sub(now);
        let mut late = pin!(sleep(Duration::from_millis(left)));
        let mut events = self.ask.terms.model.stream(self.request());
        loop {
            // An answer that is all there already must not keep everybody else from getting a word in.
            consume_budget().await;
            let event = tokio::select! {
                biased;
                () = self.ask.cancel.cancelled() => return Ok(Some(End::Cancelled)),
                () = &mut late => {
                    let seconds = self.ask.terms.limits.time.as_secs();
                    let reason = format!("it took {seconds} seconds");
                    return Ok(Some(End::Limit { reason }));
                }
                event = events.next() => event,
            };
            match event {
                Some(event) => heard.hear(event?, &|event| self.listener.tell(event)),
                None if heard.ended.is_some() => return Ok(None),
                None => {
                    let message = "the answer ended before it was finished";
                    return Err(ModelError::new(ModelErrorKind::Protocol, message));
                }
            }
        }
    }

    fn request(&self) -> ModelRequest {
        let terms = &self.ask.terms;
        let told = self.journal.told();
        let choice = match &terms.choice {
            // Once a tool was called the wish is fulfilled; asked again, the model could never answer.
            ToolChoice::Required | ToolChoice::Named(_) if told.turn.rounds() > 0 => {
                ToolChoice::Auto
            }
            choice => choice.clone(),
        };
        let hosted = terms.hosted.iter();
        ModelRequest {
            system: terms.system.clone(),
            messages: terms.window.tell(&told.entries),
            tools: Arc::clone(&self.tools),
            hosted: hosted
                .filter(|hosted| terms.model.hosts(hosted))
                .cloned()
                .collect(),
            choice,
            answer: self.ask.answer.clone(),
            options: terms.options.clone(),
        }
    }

    /// Keeps the text of an answer that was cut off: the person has read it.
    async fn keep_what_was_said(&self, heard: Heard) -> Result<(), ChatError> {
        if heard.text.is_empty() {
            return Ok(());
        }
        let content = vec![Content::text(heard.text)];
        self.journal.tell([What::Assistant { content }]).await?;
        Ok(())
    }

    /// Tells the journal a whole answer, and who has to decide what before its calls run.
    async fn answered(&self, heard: Heard) -> Result<(), ChatError> {
        let (stop, usage) = heard.ended.unwrap_or_default();
        let model = self.ask.terms.model.id().clone();
        let cost = self.ask.chat.0.prices.cost(&model, &usage);
        let step = Arc::new(Step::new(model, heard.items, stop.clone(), usage));
        let mut calls = Vec::<CallFacts>::new();
        for facts in step.items.iter().filter_map(|item| self.facts(item)) {
            if !calls.iter().any(|known| known.call == facts.call) {
                calls.push(facts);
            }
        }
        let ids: Vec<CallId> = calls.iter().map(|facts| facts.call.clone()).collect();
        let mut told = vec![What::Step {
            step: Arc::clone(&step),
            calls,
            cost,
        }];
        told.extend(self.asks(&step));
        self.journal.tell(told).await?;
        self.listener.tell(ChatEvent::Step { stop, usage, cost });
        for asked in self.asked(&ids) {
            self.listener.tell(ChatEvent::Asked(asked));
        }
        Ok(())
    }

    /// What somebody has to decide before the calls of a step run.
    fn asks(&self, step: &Step) -> Vec<What> {
        // Whoever runs our calls decides about them; about a vendor's, somebody else has to.
        let ours = |item: &&Item| matches!(item.kind, ItemKind::Call { .. });
        let items = step.items.iter();
        let items = items.filter(|item| !self.ask.terms.manual || !ours(item));
        let pending = items.filter_map(|item| self.pending_of(&item.kind));
        let asked = pending.map(|pending| What::Asked {
            call: pending.call.id.clone(),
            token: pending.request().grant(),
            arguments: pending.arguments,
        });
        asked.collect()
    }

    /// What the turn has to know about an item that is a call.
    fn facts(&self, item: &Item) -> Option<CallFacts> {
        match &item.kind {
            ItemKind::Call { call } => Some(self.facts_of(call)),
            ItemKind::HostedApproval {
                id,
                server,
                tool,
                arguments,
            } => {
                let name = format!("{server}.{tool}");
                let digest = digest(&name, arguments);
                Some(CallFacts::new(id.as_str(), name, digest))
            }
            _ => None,
        }
    }

    fn facts_of(&self, call: &ToolCall) -> CallFacts {
        let snapshot = self.invoker.snapshot().ok();
        let entry = snapshot
            .as_deref()
            .and_then(|snapshot| snapshot.find(call.name.as_str()));
        let name = entry.map_or(&call.name, |entry| &entry.spec().name);
        let digest = digest(name.as_str(), call.arguments.as_str());
        let mut facts = CallFacts::new(call.id.clone(), ToolName::clone(name), digest);
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
struct Heard {
    text: String,
    items: Vec<Item>,
    /// The ids of the calls, under the numbers that deltas have.
    begun: HashMap<usize, CallId>,
    ended: Option<(Stop, Usage)>,
}

impl Heard {
    fn hear(&mut self, event: ModelEvent, tell: &dyn Fn(ChatEvent)) {
        match event {
            ModelEvent::Sent(body) => tell(ChatEvent::Sent { body }),
            ModelEvent::Text(delta) => {
                self.text.push_str(&delta);
                tell(ChatEvent::Text { delta });
            }
            ModelEvent::Reasoning(delta) => tell(ChatEvent::Reasoning { delta }),
            ModelEvent::CallStarted { index, id, name } => {
                self.begun.insert(index, id.clone());
                tell(ChatEvent::CallBegins {
                    call: id,
                    tool: name,
                });
            }
            ModelEvent::CallDelta { index, delta } => {
                if let Some(call) = self.begun.get(&index).cloned() {
                    tell(ChatEvent::CallDelta { call, delta });
                }
            }
            ModelEvent::Item(mut item) => {
                self.tell_apart(&mut item);
                match &item.kind {
                    ItemKind::Call { call } => tell(ChatEvent::Call { call: call.clone() }),
                    ItemKind::Hosted {
                        tool,
                        input,
                        output,
                        failed,
                    } => tell(ChatEvent::Hosted {
                        tool: tool.clone(),
                        input: input.clone(),
                        output: output.clone(),
                        failed: *failed,
                    }),
                    _ => {}
                }
                self.items.push(item);
            }
            ModelEvent::Finished { stop, usage } => self.ended = Some((stop, usage)),
        }
    }

    /// Gives a call another id if one before has the same: each has a result of its own.
    fn tell_apart(&self, item: &mut Item) {
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
fn digest(tool: &str, arguments: &str) -> String {
    let arguments = match serde_json::from_str(arguments) {
        Ok(value) => canonical(&value).to_string(),
        Err(_) => arguments.to_owned(),
    };
    let digest = Sha256::digest(format!("{tool}\n{arguments}"));
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
