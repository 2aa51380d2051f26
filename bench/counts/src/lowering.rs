//! Schemas that are lowered for the first time.

use std::hint::black_box;

use serde_json::Value;
use toolwright::schema::{Dialect, Schema};
use toolwright_bench::catalogue;

use crate::Work;

/// Every tenth of the thousand: all families of schemas.
const STEP: usize = 10;

pub(crate) fn openai_strict() -> Work {
    lower_to(Dialect::OPENAI_STRICT)
}

pub(crate) fn anthropic_strict() -> Work {
    lower_to(Dialect::ANTHROPIC_STRICT)
}

pub(crate) fn gemini() -> Work {
    lower_to(Dialect::GEMINI)
}

pub(crate) fn portable() -> Work {
    lower_to(Dialect::PORTABLE)
}

fn lower_to(dialect: Dialect) -> Work {
    let tools = catalogue::tools().into_iter().step_by(STEP);
    let values: Vec<Value> = tools.map(|tool| tool.input).collect();
    Box::new(move || {
        for value in &values {
            let _ = black_box(Schema::trusted(value.clone()).lower(dialect));
        }
    })
}
