//! The token usage and cost of a conversation.

use toolwright_chat::{ChatEvent, Usage};

/// Tokens and cost of all steps so far.
#[derive(Default)]
pub(crate) struct UsageTotals {
    steps: usize,
    usage: Usage,
    cost: f64,
    /// Steps of models whose price is not configured.
    unpriced_steps: usize,
}

impl UsageTotals {
    /// Adds the usage of a step event; ignores other events.
    pub(crate) fn record_event(&mut self, event: &ChatEvent) {
        if let ChatEvent::Step { usage, cost, .. } = event {
            self.add_step(*usage, *cost);
        }
    }

    /// Adds the usage and cost of one step.
    pub(crate) fn add_step(&mut self, usage: Usage, cost: Option<f64>) {
        self.steps += 1;
        self.usage += usage;
        self.cost += cost.unwrap_or_default();
        self.unpriced_steps += usize::from(cost.is_none());
    }

    /// Three lines: steps, tokens and cost.
    pub(crate) fn summary(&self) -> String {
        let Usage { input, output, .. } = self.usage;
        let mut tokens = format!("tokens  {input} in, {output} out");
        for (count, what) in [
            (self.usage.cached, "of the input from a cache"),
            (self.usage.reasoning, "of the output reasoning"),
        ] {
            if count > 0 {
                tokens.push_str(&format!(", {count} {what}"));
            }
        }
        let estimated = if self.usage.estimated { " (estimated)" } else { "" };
        tokens.push_str(estimated);
        let cost = match (self.unpriced_steps, self.steps) {
            (0, _) if self.cost == 0.0 => format!("{:.6}", self.cost),
            (0, _) => format!("{:.6}{estimated}", self.cost),
            (unpriced, steps) if unpriced == steps => {
                "price unknown: set prices.\"VENDOR:NAME\" in the config file".to_owned()
            }
            (unpriced, _) => {
                format!("{:.6}{estimated}, and {unpriced} steps of unknown price", self.cost)
            }
        };
        format!("steps   {}\n{tokens}\ncost    {cost}\n", self.steps)
    }
}

#[cfg(test)]
mod tests {
    use toolwright_chat::StopReason;

    use super::*;

    fn step(cost: Option<f64>) -> ChatEvent {
        ChatEvent::Step { stop: StopReason::End, usage: Usage::new(10, 5), cost }
    }

    #[test]
    fn an_estimate_is_marked_with_its_cost() {
        let mut totals = UsageTotals::default();
        totals.record_event(&step(Some(0.25)));
        assert!(!totals.summary().contains("estimated"), "{}", totals.summary());
        let mut usage = Usage::new(10, 5);
        usage.estimated = true;
        totals.add_step(usage, Some(0.25));
        let summary = totals.summary();
        assert!(summary.contains("20 in, 10 out (estimated)"), "{summary}");
        assert!(summary.contains("0.500000 (estimated)"), "{summary}");
    }

    #[test]
    fn an_unknown_price_is_never_a_number() {
        let mut totals = UsageTotals::default();
        totals.record_event(&step(None));
        assert!(totals.summary().contains("price unknown"));
        totals.record_event(&step(Some(0.25)));
        let summary = totals.summary();
        assert!(summary.contains("20 in, 10 out"), "{summary}");
        assert!(summary.contains("0.250000, and 1 steps of unknown price"), "{summary}");
    }
}
