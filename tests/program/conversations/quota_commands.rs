//! `quota show` and `quota reset`.

use std::time::Duration;

use toolwright::chat::Store as _;
use toolwright::{SharedState as _, subject_key};

use super::TestHome;
use super::storage::FILE;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

impl TestHome {
    /// Counts tokens of a person, as a server does.
    fn use_tokens(&self, subject: &str, tokens: u64) {
        let url = format!("sqlite:{}", self.path(FILE).display());
        let used = async {
            let state = toolwright::store::open(&url).await.unwrap().shared_state();
            let key = subject_key(Some(subject), "tokens_per_day");
            state.count("quota", &key, tokens, u64::MAX, DAY).await.unwrap();
            let key = subject_key(Some(subject), "");
            state.put("quota_subject", &key, subject, Some(DAY)).await.unwrap();
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(used);
    }
}

#[test]
fn what_people_have_used_is_shown_and_reset() {
    let home = TestHome::new();
    let settings = "[quota]\ntokens_per_day = 100\n[quota.roles.staff]\ntokens_per_day = 500\n";
    std::fs::write(home.path("toolwright.toml"), settings).unwrap();
    home.ask("c", "Hi");
    let nobody = home.run(&["quota", "show"]).assert_success();
    assert_eq!(nobody.out, "");
    home.use_tokens("ada", 40);
    home.use_tokens("bob", 100);
    let all = home.run(&["quota", "show"]).assert_success().out;
    assert!(all.starts_with("ada\n  tokens_per_day  40 of 100, resets in "), "{all}");
    assert!(all.contains("bob\n  tokens_per_day  100 of 100, resets in "), "{all}");
    let staff = home.run(&["quota", "show", "ada", "--role", "staff"]).assert_success().out;
    assert!(staff.contains("40 of 500"), "{staff}");
    let unused = home.run(&["quota", "show", "eve"]).assert_success().out;
    assert_eq!(unused, "eve\n  tokens_per_day  0 of 100\n");
    home.run(&["quota", "reset", "bob"]).assert_success();
    let json = home.run(&["quota", "show", "bob", "--json"]).assert_success().out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json[0]["limits"][0]["left"], 100, "{json}");
}

#[test]
fn a_misspelt_limit_is_an_error_of_every_command() {
    let home = TestHome::new();
    std::fs::write(home.path("toolwright.toml"), "[quota]\ntokens_per_dya = 1\n").unwrap();
    let failed = home.run(&["tools", "list"]);
    assert!(failed.err.contains("did you mean `tokens_per_day`?"), "{failed:?}");
}
