//! What a person has used of their quota, and what is left: for `/api/quota` and the command line.

use serde::Serialize;
use serde_json::Value;
use toolwright_core::{SharedState, SharedStateError};

use crate::quota::counters::{
    DAY, MINUTE, SPACE, SUBJECT_SPACE, counter_key, estimated_key, to_micros,
};
use crate::quota::settings::QuotaSettings;
use crate::quota::turn_slots::TurnSlots;

/// What a person has used of their quota.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct QuotaUsage {
    /// The person; `None` is the operator.
    pub subject: Option<String>,
    /// Each limit that the person has.
    pub limits: Vec<LimitUsage>,
}

/// What a person has used of one limit.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LimitUsage {
    /// The name of its setting, such as `tokens_per_day`.
    pub limit: &'static str,
    /// The maximum.
    pub max: QuotaAmount,
    /// What is used.
    pub used: QuotaAmount,
    /// What is left.
    pub left: QuotaAmount,
    /// Of what is used: the part that is estimated, because a vendor did not report it; `None` if all of it was reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimated: Option<QuotaAmount>,
    /// The time until nothing counts as used, in seconds; `None` if nothing does, and for turns that run.
    pub resets_in: Option<u64>,
}

/// An amount of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum QuotaAmount {
    /// A number of messages, turns or tokens.
    Count(u64),
    /// An amount of money, in the currency of the prices.
    Cost(f64),
}

impl QuotaUsage {
    /// Reads what a person with these roles has used; `None` is the operator.
    ///
    /// # Errors
    ///
    /// When the shared state cannot be read.
    pub async fn read(
        state: &dyn SharedState,
        settings: &QuotaSettings,
        subject: Option<&str>,
        roles: &[impl AsRef<str>],
    ) -> Result<Self, SharedStateError> {
        let limits = settings.limits_of(roles);
        let max_cost = limits.cost_per_day.map(to_micros);
        let mut used = Vec::new();
        for (limit, max, window) in [
            ("messages_per_minute", limits.messages_per_minute, MINUTE),
            ("tokens_per_day", limits.tokens_per_day, DAY),
            ("cost_per_day", max_cost, DAY),
        ] {
            let amount = |count| match limit {
                "cost_per_day" => QuotaAmount::Cost(from_micros(count)),
                _ => QuotaAmount::Count(count),
            };
            let Some(max) = max else { continue };
            let key = counter_key(subject, limit);
            let counted = state.count(SPACE, &key, 0, u64::MAX, window).await?;
            let estimated = match window {
                DAY => state.count(SPACE, &estimated_key(&key), 0, u64::MAX, DAY).await?.total,
                _ => 0,
            };
            // Its 24 hours may have begun later.
            let estimated = estimated.min(counted.total);
            let resets_in = counted.resets_in.as_secs().saturating_add(1);
            used.push(LimitUsage {
                limit,
                max: amount(max),
                used: amount(counted.total),
                left: amount(max.saturating_sub(counted.total)),
                estimated: (estimated > 0).then(|| amount(estimated)),
                resets_in: (counted.total > 0).then_some(resets_in),
            });
        }
        if let Some(max) = limits.concurrent_turns {
            let running = TurnSlots::count(state, subject).await?;
            used.push(LimitUsage {
                limit: "concurrent_turns",
                max: QuotaAmount::Count(max),
                used: QuotaAmount::Count(running),
                left: QuotaAmount::Count(max.saturating_sub(running)),
                estimated: None,
                resets_in: None,
            });
        }
        Ok(Self { subject: subject.map(str::to_owned), limits: used })
    }

    /// Returns at most `max` people who have used tokens or money in the last day, where that is limited.
    ///
    /// # Errors
    ///
    /// When the shared state cannot be read.
    pub async fn list_subjects(
        state: &dyn SharedState,
        max: usize,
    ) -> Result<Vec<String>, SharedStateError> {
        let listed = state.list(SUBJECT_SPACE, "", max).await?;
        let mut subjects: Vec<String> = listed.into_iter().map(|(_, subject)| subject).collect();
        subjects.sort();
        Ok(subjects)
    }

    /// Sets what a person has used to nothing; `None` is the operator. Turns that run go on, and count.
    ///
    /// # Errors
    ///
    /// When the shared state cannot be changed.
    pub async fn reset(
        state: &dyn SharedState,
        subject: Option<&str>,
    ) -> Result<(), SharedStateError> {
        for limit in ["messages_per_minute", "tokens_per_day", "cost_per_day"] {
            let key = counter_key(subject, limit);
            state.remove(SPACE, &key).await?;
            state.remove(SPACE, &estimated_key(&key)).await?;
        }
        state.remove(SUBJECT_SPACE, &counter_key(subject, "")).await.map(drop)
    }
}

impl std::fmt::Display for QuotaAmount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            Self::Cost(cost) => write!(f, "{cost:.2}"),
        }
    }
}

impl From<QuotaAmount> for Value {
    fn from(amount: QuotaAmount) -> Self {
        match amount {
            QuotaAmount::Count(count) => count.into(),
            QuotaAmount::Cost(cost) => cost.into(),
        }
    }
}

fn from_micros(micros: u64) -> f64 {
    micros as f64 / 1e6
}
