//! Counts messages, tokens and cost per person, in the state that all nodes share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use toolwright_chat::Usage;
use toolwright_conversation::ConversationError;
use toolwright_core::__internal::{LocalWindows, SharedStateAway, SharedStateBreaker};
use toolwright_core::{BoxFuture, Count, SharedState, SharedStateError, subject_key};
use toolwright_mcp::{CallAttempt, CallRejection};

use crate::http::error_response::call_rejection;
use crate::quota::account::QuotaAccount;
use crate::quota::settings::{QuotaLimits, QuotaSettings};
use crate::quota::turn_slots::TurnSlots;
use crate::quota::usage_report::QuotaUsage;

/// The space of the counters; a key is a person and the name of a limit.
pub(super) const SPACE: &str = "quota";

/// The space of the names of people who have used tokens; a key is a person, a value their subject.
pub(super) const SUBJECT_SPACE: &str = "quota_subject";

/// The space of the rounds of MCP calls that have been counted.
const ROUND_SPACE: &str = "quota_round";

/// How long a round of an MCP call is known; longer than a client may take for one.
const ROUND_LIFETIME: Duration = Duration::from_secs(60 * 60);

pub(super) const MINUTE: Duration = Duration::from_secs(60);
pub(super) const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The maximum number of counters whose additions wait for the shared state.
const MAX_UNSAVED: usize = 10_000;

/// The quotas of a server.
pub(crate) struct Quotas {
    pub(super) settings: QuotaSettings,
    /// The limits that a person can have: the others are not counted.
    in_use: QuotaLimits,
    shared: Arc<dyn SharedState>,
    breaker: Arc<SharedStateBreaker>,
    /// The messages of this node, while the shared state cannot be reached.
    local_messages: LocalWindows<String>,
    /// Tokens and cost that could not be added to their counters yet, by key.
    unsaved: Mutex<HashMap<String, u64>>,
    pub(super) slots: Arc<TurnSlots>,
}

/// A message that was counted, to be uncounted if it is not accepted after all.
pub(crate) struct CountedMessage {
    key: String,
    is_shared: bool,
}

impl Quotas {
    /// Creates the quotas of a node; a slot of a node that is killed is free after `slot_lifetime`.
    pub(crate) fn new(
        settings: QuotaSettings,
        shared: &Arc<dyn SharedState>,
        slot_lifetime: Duration,
    ) -> Self {
        let breaker = Arc::new(SharedStateBreaker::default());
        Self {
            in_use: settings.limits_in_use(),
            settings,
            shared: Arc::clone(shared),
            slots: Arc::new(TurnSlots::new(shared, &breaker, slot_lifetime)),
            breaker,
            local_messages: LocalWindows::default(),
            unsaved: Mutex::default(),
        }
    }

    pub(crate) fn limits_of(&self, account: &QuotaAccount) -> QuotaLimits {
        self.settings.limits_of(&account.roles)
    }

    pub(crate) fn slots(&self) -> &Arc<TurnSlots> {
        &self.slots
    }

    /// Reads what a person has used.
    pub(crate) async fn usage_of(
        &self,
        account: &QuotaAccount,
    ) -> Result<QuotaUsage, SharedStateError> {
        let subject = account.subject.as_deref();
        QuotaUsage::read(&*self.shared, &self.settings, subject, &account.roles).await
    }

    /// Returns true if a person may have a limit for calls of MCP clients.
    pub(crate) fn limits_calls(&self) -> bool {
        self.in_use.messages_per_minute.is_some()
    }

    /// Returns the function that counts the calls of MCP clients.
    pub(crate) fn call_limit(
        quotas: &Arc<Self>,
    ) -> impl Fn(CallAttempt) -> BoxFuture<'static, Result<(), CallRejection>> + Send + Sync + 'static
    {
        let quotas = Arc::clone(quotas);
        move |attempt| {
            let quotas = Arc::clone(&quotas);
            Box::pin(async move {
                let account = QuotaAccount::of_principal(&attempt.principal);
                let counted = quotas.count_call(&account, attempt.round.as_deref()).await;
                counted.map_err(call_rejection)
            })
        }
    }

    /// Counts a message or a call of a tool; an error if the person may send none in this minute.
    ///
    /// While the shared state cannot be reached, each node counts its own messages.
    pub(crate) async fn count_message(
        &self,
        account: &QuotaAccount,
    ) -> Result<Option<CountedMessage>, ConversationError> {
        let Some(max) = self.limits_of(account).messages_per_minute else {
            return Ok(None);
        };
        let key = counter_key(account.subject.as_deref(), "messages_per_minute");
        let counted = self.shared.count(SPACE, &key, 1, max, MINUTE);
        let consequence = "this node counts its own messages for a while";
        let counted = self.breaker.run(counted, consequence).await;
        let is_shared = counted.is_ok();
        let count =
            counted.unwrap_or_else(|_| self.local_messages.count(key.clone(), 1, max, MINUTE));
        match count.is_admitted {
            true => Ok(Some(CountedMessage { key, is_shared })),
            false => {
                let message = format!(
                    "the quota of {max} messages per minute is used up: try again in {}",
                    wait_text(count.resets_in)
                );
                Err(ConversationError::Quota {
                    limit: "messages_per_minute",
                    message,
                    retry_after: count.resets_in,
                })
            }
        }
    }

    /// Uncounts a message that was not accepted.
    pub(crate) async fn uncount_message(&self, counted: CountedMessage) {
        let CountedMessage { key, is_shared } = counted;
        match is_shared {
            true => {
                let uncounted = self.shared.uncount(SPACE, &key, 1);
                // The counter restarts by itself.
                let _ = self.breaker.run(uncounted, "a refused message stays counted").await;
            }
            false => self.local_messages.uncount(&key, 1),
        }
    }

    /// Counts a call of a tool that is no part of a turn. A later round of a call that was counted is not, once.
    pub(crate) async fn count_call(
        &self,
        account: &QuotaAccount,
        round: Option<&str>,
    ) -> Result<(), ConversationError> {
        if !self.limits_calls() {
            return Ok(());
        }
        if let Some(round) = round {
            let key = subject_key(account.subject.as_deref(), round);
            let inserted = self.shared.insert(ROUND_SPACE, &key, "", Some(ROUND_LIFETIME));
            let is_first = self.breaker.run(inserted, "rounds of calls are counted").await;
            // A client that sends the same round again begins the call anew.
            if is_first == Ok(true) {
                return Ok(());
            }
        }
        self.count_message(account).await.map(drop)
    }

    /// Checks what a person has used today; an error if that is all they may use, or it cannot be read: nothing is spent that might
    /// be over the limit.
    pub(crate) async fn check_usage(
        &self,
        account: &QuotaAccount,
    ) -> Result<(), ConversationError> {
        let limits = self.limits_of(account);
        let max_cost = limits.cost_per_day.map(to_micros);
        let (tokens, cost) = futures::join!(
            self.check_counter(account, "tokens_per_day", limits.tokens_per_day),
            self.check_counter(account, "cost_per_day", max_cost),
        );
        let used_up = |name, what: String, count: Count| {
            let wait = wait_text(count.resets_in);
            let message = format!("the quota of {what} per day is used up: it resets in {wait}");
            Err(ConversationError::Quota { limit: name, message, retry_after: count.resets_in })
        };
        if let (Some(count), Some(max)) = (tokens?, limits.tokens_per_day) {
            return used_up("tokens_per_day", format!("{max} tokens"), count);
        }
        if let (Some(count), Some(max)) = (cost?, limits.cost_per_day) {
            return used_up("cost_per_day", format!("{max:.2}"), count);
        }
        Ok(())
    }

    /// Returns the counter of a limit if it is reached; an error if it cannot be read.
    async fn check_counter(
        &self,
        account: &QuotaAccount,
        name: &'static str,
        max: Option<u64>,
    ) -> Result<Option<Count>, ConversationError> {
        let Some(max) = max else {
            return Ok(None);
        };
        match self.add(&counter_key(account.subject.as_deref(), name), 0).await {
            Ok(count) => Ok((count.total >= max).then_some(count)),
            Err(away) => {
                let message = format!("`{name}` cannot be checked at this time: try again");
                Err(ConversationError::Overloaded { message, retry_after: away.retry_in })
            }
        }
    }

    /// Returns true if a person may not spend more than a certain amount.
    pub(crate) fn limits_cost(&self, account: &QuotaAccount) -> bool {
        self.limits_of(account).cost_per_day.is_some()
    }

    /// Returns an error if the cost of a model is limited and not known: a limit that cannot be kept is no limit.
    pub(crate) fn check_price(
        &self,
        account: &QuotaAccount,
        model: &str,
        knows_price: impl FnOnce() -> bool,
    ) -> Result<(), ConversationError> {
        if !self.limits_cost(account) || knows_price() {
            return Ok(());
        }
        Err(ConversationError::UnknownPrice { model: model.to_owned() })
    }

    /// Adds what a step of a model has used.
    pub(crate) async fn record_usage(
        &self,
        account: &QuotaAccount,
        usage: Usage,
        cost: Option<f64>,
    ) {
        let subject = account.subject.as_deref();
        let amounts = [
            ("tokens_per_day", self.in_use.tokens_per_day.is_some(), usage.total()),
            ("cost_per_day", self.in_use.cost_per_day.is_some(), cost.map_or(0, to_micros)),
        ];
        let mut is_first = false;
        for (name, is_counted, amount) in amounts {
            if !is_counted || amount == 0 {
                continue;
            }
            let key = counter_key(subject, name);
            let added = self.add(&key, amount).await;
            is_first |= added.is_ok_and(|count| count.total == amount);
            if usage.estimated {
                // Nothing is refused for it: a failure is repaired by the next addition.
                let _ = self.add(&estimated_key(&key), amount).await;
            }
        }
        if let (true, Some(subject)) = (is_first, subject) {
            let key = subject_key(Some(subject), "");
            let named = self.shared.put(SUBJECT_SPACE, &key, subject, Some(DAY));
            // Only `quota show` without a subject reads it.
            let _ = self.breaker.run(named, "a person may be missing in `quota show`").await;
        }
    }

    /// Adds an amount to a counter of the day, with what could not be added before. What fails is added later by this process; it
    /// may then be counted twice, never too little.
    async fn add(&self, key: &str, amount: u64) -> Result<Count, SharedStateAway> {
        let amount = self.unsaved().remove(key).unwrap_or_default().saturating_add(amount);
        let added = self.shared.count(SPACE, key, amount, u64::MAX, DAY);
        let consequence = "what people have used is added later";
        let added = self.breaker.run(added, consequence).await;
        if added.is_err() && amount > 0 {
            let mut unsaved = self.unsaved();
            if unsaved.len() < MAX_UNSAVED || unsaved.contains_key(key) {
                let total = unsaved.entry(key.to_owned()).or_default();
                *total = total.saturating_add(amount);
            }
        }
        added
    }

    fn unsaved(&self) -> MutexGuard<'_, HashMap<String, u64>> {
        self.unsaved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The key of a counter: the name of its limit, under the prefix of the person.
pub(super) fn counter_key(subject: Option<&str>, limit: &str) -> String {
    subject_key(subject, limit)
}

/// The key of the part of a counter that is estimated.
pub(super) fn estimated_key(counter: &str) -> String {
    format!("{counter}.estimated")
}

/// An amount of money in millionths, rounded up; 0 if it is negative or no number.
pub(super) fn to_micros(cost: f64) -> u64 {
    // Without the rounding, 0.1 would be a millionth more.
    let micros = (cost * 1e9).round() / 1e3;
    // A cast saturates.
    micros.ceil() as u64
}

/// A time to wait in the units that a person thinks in.
pub(crate) fn wait_text(wait: Duration) -> String {
    let seconds = wait.as_millis().div_ceil(1000);
    match (seconds / 3600, seconds / 60) {
        (0, 0 | 1) => format!("{} s", seconds.max(1)),
        (0 | 1, minutes) => format!("{minutes} min"),
        (hours, minutes) => format!("{hours} h {} min", minutes % 60),
    }
}

#[cfg(test)]
mod tests {
    use toolwright_core::MemorySharedState;

    use super::*;

    fn account(subject: &str) -> QuotaAccount {
        QuotaAccount { subject: Some(subject.to_owned()), roles: Vec::new() }
    }

    /// Two nodes that share their state.
    fn nodes(limits: QuotaLimits) -> [Quotas; 2] {
        let shared: Arc<dyn SharedState> = Arc::new(MemorySharedState::new());
        let node = || Quotas::new(QuotaSettings::new(limits), &shared, MINUTE);
        [node(), node()]
    }

    #[test]
    fn money_is_counted_in_millionths_and_rounded_up() {
        assert_eq!(to_micros(0.1), 100_000);
        assert_eq!(to_micros(1.000_000_4), 1_000_001);
        assert_eq!(to_micros(-1.0), 0);
        assert_eq!(to_micros(f64::NAN), 0);
        assert_eq!(to_micros(f64::INFINITY), u64::MAX);
    }

    #[test]
    fn times_are_in_units_that_a_person_thinks_in() {
        let text = |seconds| wait_text(Duration::from_secs(seconds));
        assert_eq!(
            [0, 42, 119, 120, 7199, 7200, 86_399].map(text),
            ["1 s", "42 s", "119 s", "2 min", "119 min", "2 h 0 min", "23 h 59 min"]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn messages_at_all_nodes_count_together_and_per_person() {
        let nodes = nodes(QuotaLimits::new().messages_per_minute(4));
        for n in 0..4 {
            assert!(nodes[n % 2].count_message(&account("ada")).await.is_ok());
        }
        tokio::time::advance(Duration::from_secs(20)).await;
        for node in &nodes {
            let refused = node.count_message(&account("ada")).await.err().map(|it| it.to_string());
            let wanted = "the quota of 4 messages per minute is used up: try again in 40 s";
            assert_eq!(refused.as_deref(), Some(wanted));
            assert!(node.count_message(&account("bob")).await.is_ok());
        }
        tokio::time::advance(Duration::from_secs(40)).await;
        assert!(nodes[0].count_message(&account("ada")).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn tokens_and_cost_are_refused_from_the_limit_on_until_the_day_is_over() {
        let nodes = nodes(QuotaLimits::new().tokens_per_day(100).cost_per_day(0.5));
        let (ada, bob) = (account("ada"), account("bob"));
        nodes[0].record_usage(&ada, Usage::new(60, 39), Some(0.1)).await;
        assert!(nodes[1].check_usage(&ada).await.is_ok());
        nodes[1].record_usage(&ada, Usage::new(1, 0), None).await;
        let refused = nodes[0].check_usage(&ada).await.err().map(|it| it.to_string());
        let wanted = "the quota of 100 tokens per day is used up: it resets in 24 h 0 min";
        assert_eq!(refused.as_deref(), Some(wanted));
        nodes[0].record_usage(&bob, Usage::new(1, 1), Some(0.5)).await;
        let refused = nodes[1].check_usage(&bob).await.err().map(|it| it.to_string());
        let wanted = "the quota of 0.50 per day is used up: it resets in 24 h 0 min";
        assert_eq!(refused.as_deref(), Some(wanted));
        tokio::time::advance(DAY).await;
        assert!(nodes[0].check_usage(&ada).await.is_ok());
    }

    #[tokio::test]
    async fn a_round_of_a_call_is_counted_only_if_it_is_sent_again() {
        let [node, other] = nodes(QuotaLimits::new().messages_per_minute(2));
        let ada = account("ada");
        assert!(node.count_call(&ada, None).await.is_ok());
        assert!(other.count_call(&ada, Some("n1")).await.is_ok());
        assert!(node.count_call(&ada, Some("n2")).await.is_ok());
        assert!(node.count_call(&ada, Some("n1")).await.is_ok());
        assert!(node.count_call(&ada, Some("n1")).await.is_err());
        assert!(node.count_call(&ada, None).await.is_err());
    }
}
