//! Guardrails: checks of messages and answers that may replace or reject them.

use std::sync::Arc;

use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use toolwright_chat::{
    HostedTool, Item, ItemKind, Model, ModelEvent, ModelId, ModelRequest, ModelStream,
    ResponseFormat, StopReason, ToolDeferral, Usage,
};
use toolwright_core::BoxFuture;
use toolwright_core::schema::Dialect;

use crate::endpoint::interceptor::{Interceptor, TurnContext, TurnRejection};

/// A check of text.
pub trait Guardrail: Send + Sync + 'static {
    /// Checks a text.
    fn check<'a>(&'a self, text: &'a str) -> BoxFuture<'a, GuardrailVerdict>;
}

/// The verdict of a guardrail.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GuardrailVerdict {
    /// Accept the text.
    Pass,
    /// Use this text instead.
    Replace(String),
    /// Reject the text; the reason, as a sentence for the user.
    Reject(String),
}

impl<F: Fn(&str) -> GuardrailVerdict + Send + Sync + 'static> Guardrail for F {
    fn check<'a>(&'a self, text: &'a str) -> BoxFuture<'a, GuardrailVerdict> {
        let verdict = self(text);
        Box::pin(async move { verdict })
    }
}

/// Checks user messages.
pub(crate) struct InputGuardrail<G>(pub(crate) G);

impl<G: Guardrail> Interceptor for InputGuardrail<G> {
    fn before<'a>(&'a self, turn: &'a mut TurnContext) -> BoxFuture<'a, Result<(), TurnRejection>> {
        Box::pin(async move {
            match self.0.check(&turn.message.text()).await {
                GuardrailVerdict::Pass => Ok(()),
                GuardrailVerdict::Replace(text) => {
                    turn.message.set_text(text);
                    Ok(())
                }
                GuardrailVerdict::Reject(reason) => Err(TurnRejection::new(reason)),
            }
        })
    }
}

/// Wraps a model with guardrails; returns it unchanged if there are none.
pub(crate) fn with_guardrails(
    model: Arc<dyn Model>,
    guardrails: &[Arc<dyn Guardrail>],
) -> Arc<dyn Model> {
    let guardrails = guardrails.to_vec();
    match guardrails.is_empty() {
        true => model,
        false => Arc::new(GuardedModel { model, guardrails }),
    }
}

/// A model whose steps are checked before they are published or stored.
struct GuardedModel {
    model: Arc<dyn Model>,
    guardrails: Vec<Arc<dyn Guardrail>>,
}

impl Model for GuardedModel {
    fn id(&self) -> &ModelId {
        self.model.id()
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        let (inner, guardrails) = (self.model.stream(request), self.guardrails.clone());
        let checked = async move {
            let events: Vec<ModelEvent> = inner.try_collect().await?;
            let checked = apply_guardrails(events, &guardrails).await;
            Ok(stream::iter(checked.into_iter().map(Ok)))
        };
        stream::once(checked).try_flatten().boxed()
    }

    fn tool_dialect(&self) -> Dialect {
        self.model.tool_dialect()
    }

    fn tool_deferral(&self) -> Option<ToolDeferral> {
        self.model.tool_deferral()
    }

    fn supports_hosted_tool(&self, hosted: &HostedTool) -> bool {
        self.model.supports_hosted_tool(hosted)
    }

    fn parse_structured_output(
        &self,
        form: &ResponseFormat,
        text: &str,
    ) -> Result<serde_json::Value, String> {
        self.model.parse_structured_output(form, text)
    }
}

/// Applies the guardrails to the events of a step.
async fn apply_guardrails(
    events: Vec<ModelEvent>,
    guardrails: &[Arc<dyn Guardrail>],
) -> Vec<ModelEvent> {
    let texts = events.iter().filter_map(|event| match event {
        ModelEvent::Item(item) => match &item.kind {
            ItemKind::Text { text } | ItemKind::Refusal { text } => Some(text.as_str()),
            _ => None,
        },
        _ => None,
    });
    let mut text: String = texts.collect();
    let (mut changed, mut rejected) = (false, false);
    for guardrail in guardrails {
        match guardrail.check(&text).await {
            GuardrailVerdict::Pass => {}
            GuardrailVerdict::Replace(other) => (text, changed) = (other, true),
            GuardrailVerdict::Reject(reason) => {
                (text, changed, rejected) = (reason, true, true);
                break;
            }
        }
    }
    match changed {
        true => replace_step_text(events, text, rejected),
        false => events,
    }
}

/// Replaces the text of a step; a rejected step calls no tools.
fn replace_step_text(events: Vec<ModelEvent>, text: String, rejected: bool) -> Vec<ModelEvent> {
    let mut kept = Vec::new();
    let (mut end, mut used) = (StopReason::End, Usage::default());
    for event in events {
        match event {
            ModelEvent::RequestSent(_) | ModelEvent::Fallback { .. } => kept.push(event),
            ModelEvent::Finished { stop, usage } => (end, used) = (stop, usage),
            ModelEvent::CallBegins { .. } | ModelEvent::CallDelta { .. } if !rejected => {
                kept.push(event);
            }
            // Without the provider's item, which contains the original text.
            ModelEvent::Item(Item { kind: kind @ ItemKind::Call { .. }, .. }) if !rejected => {
                kept.push(ModelEvent::Item(Item::new(kind)))
            }
            _ => {}
        }
    }
    let precedes_text = |event: &&ModelEvent| {
        matches!(event, ModelEvent::RequestSent(_) | ModelEvent::Fallback { .. })
    };
    let at = kept.iter().take_while(precedes_text).count();
    if !text.is_empty() {
        kept.insert(at, ModelEvent::Text(text.clone()));
        kept.insert(at + 1, ModelEvent::Item(Item::text(text)));
    }
    let stop = if rejected { StopReason::Filtered } else { end };
    kept.push(ModelEvent::Finished { stop, usage: used });
    kept
}
