//! One span per request to a model, by the semantic conventions of OpenTelemetry.

use tracing::{Level, Span, field, span};

use crate::error::ModelError;
use crate::journal::entry::TurnEnd;
use crate::model::ModelId;
use crate::model::usage::{StopReason, Usage};

/// Creates the span of a request; the messages are not recorded.
pub(crate) fn model_span(model: &ModelId, conversation: &str) -> Span {
    if !tracing::enabled!(Level::INFO) {
        return Span::none();
    }
    span!(
        Level::INFO,
        "chat",
        otel.name = format!("chat {}", model.name),
        otel.kind = "client",
        gen_ai.operation.name = "chat",
        gen_ai.provider.name = model.vendor,
        gen_ai.request.model = model.name,
        gen_ai.response.model = field::Empty,
        gen_ai.conversation.id = conversation,
        gen_ai.usage.input_tokens = field::Empty,
        gen_ai.usage.output_tokens = field::Empty,
        toolwright.usage.estimated = field::Empty,
        gen_ai.response.finish_reasons = field::Empty,
        error.r#type = field::Empty,
    )
}

/// Records the model of a fallback, the usage, the stop reason and the error of an answer.
pub(crate) fn record_outcome(
    span: &Span,
    ended: &Result<Option<TurnEnd>, ModelError>,
    fallback: Option<&ModelId>,
    stop: &StopReason,
    usage: Usage,
) {
    if let Some(model) = fallback {
        span.record("gen_ai.response.model", &model.name);
    }
    if usage != Usage::default() {
        span.record("gen_ai.usage.input_tokens", usage.input);
        span.record("gen_ai.usage.output_tokens", usage.output);
    }
    if usage.estimated {
        span.record("toolwright.usage.estimated", true);
    }
    if *stop != StopReason::Interrupted {
        span.record("gen_ai.response.finish_reasons", field::debug(stop));
    }
    let error = match ended {
        Ok(None) => return,
        Ok(Some(TurnEnd::Cancelled)) => "cancelled".to_owned(),
        Ok(Some(_)) => "timeout".to_owned(),
        Err(error) => format!("{:?}", error.kind).to_lowercase(),
    };
    span.record("error.type", error);
}
