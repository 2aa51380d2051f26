//! Values and counters that all programs with the same store share.

use std::time::Duration;

use toolwright::{Count, SharedState};

use crate::Backend;
use crate::fixtures::LONG;

/// So short that it is over at one of the next attempts.
const SHORT: Duration = Duration::from_millis(1);

const ZERO: Duration = Duration::ZERO;

/// The values of a space.
async fn listed(state: &dyn SharedState, space: &str, prefix: &str) -> Vec<(String, String)> {
    state.list(space, prefix, 99).await.unwrap()
}

fn assert_count(count: Count, is_admitted: bool, total: u64) {
    assert_eq!((count.is_admitted, count.total), (is_admitted, total), "{count:?}");
    assert!(count.resets_in <= LONG, "{count:?}");
}

pub async fn a_value_is_there_until_it_is_removed(backend: &dyn Backend) {
    let (state, again) = (backend.open().await.shared_state(), backend.open().await.shared_state());
    assert_eq!(again.get("pin", "a").await.unwrap(), None);
    assert_eq!(again.remove("pin", "a").await.unwrap(), None);
    state.put("pin", "a", "one", None).await.unwrap();
    state.put("pin", "b", "two", Some(LONG)).await.unwrap();
    state.put("pin", "c", "three", Some(Duration::MAX)).await.unwrap();
    state.put("other", "a", "four", None).await.unwrap();
    for state in [&state, &again, &backend.open().await.shared_state()] {
        for (key, value) in [("a", "one"), ("b", "two"), ("c", "three")] {
            assert_eq!(state.get("pin", key).await.unwrap().as_deref(), Some(value));
        }
    }
    again.put("pin", "a", "new", Some(LONG)).await.unwrap();
    assert_eq!(state.remove("pin", "a").await.unwrap().as_deref(), Some("new"));
    assert_eq!(again.get("pin", "a").await.unwrap(), None);
    assert_eq!(again.remove("pin", "a").await.unwrap(), None);
    assert_eq!(again.get("other", "a").await.unwrap().as_deref(), Some("four"));
}

pub async fn keys_and_values_may_be_anything(backend: &dyn Backend) {
    let state = backend.open().await.shared_state();
    let texts = ["", "\0", "a\0b", "'; --", "%_\\", "\u{10ffff}", "\u{1F980}\r\n", "é", "e\u{301}"];
    for (n, key) in texts.iter().enumerate() {
        assert!(state.insert("any", key, texts[(n + 1) % texts.len()], None).await.unwrap());
    }
    for (n, key) in texts.iter().enumerate() {
        let value = state.get("any", key).await.unwrap();
        assert_eq!(value.as_deref(), Some(texts[(n + 1) % texts.len()]), "{key:?}");
        let prefixed = listed(&state, "any", key).await;
        assert_eq!(prefixed.first().map(|(key, _)| key.as_str()), Some(*key));
    }
    let mut sorted: Vec<&str> = texts.to_vec();
    sorted.sort_unstable();
    let keys: Vec<String> = listed(&state, "any", "").await.into_iter().map(|it| it.0).collect();
    assert_eq!(keys, sorted);
}

pub async fn a_value_that_has_expired_is_gone(backend: &dyn Backend) {
    let (state, again) = (backend.open().await.shared_state(), backend.open().await.shared_state());
    state.put("session", "a", "one", Some(SHORT)).await.unwrap();
    while again.get("session", "a").await.unwrap().is_some() {
        tokio::task::yield_now().await;
    }
    for state in [&state, &again] {
        assert_eq!(state.get("session", "a").await.unwrap(), None);
        assert!(listed(state, "session", "").await.is_empty());
        assert!(!state.replace("session", "a", "one", "two", None).await.unwrap());
    }
    state.put("session", "b", "one", Some(ZERO)).await.unwrap();
    assert_eq!(again.remove("session", "b").await.unwrap(), None);
    assert!(again.insert("session", "a", "new", None).await.unwrap());
    assert_eq!(state.get("session", "a").await.unwrap().as_deref(), Some("new"));
    // A new value has a new end.
    state.put("session", "a", "newer", Some(ZERO)).await.unwrap();
    assert_eq!(again.get("session", "a").await.unwrap(), None);
    state.put("session", "a", "newest", None).await.unwrap();
    assert!(again.replace("session", "a", "newest", "last", Some(ZERO)).await.unwrap());
    assert_eq!(state.get("session", "a").await.unwrap(), None);
}

pub async fn a_key_is_inserted_once(backend: &dyn Backend) {
    let (state, again) = (backend.open().await.shared_state(), backend.open().await.shared_state());
    assert!(state.insert("nonce", "a", "mine", Some(LONG)).await.unwrap());
    assert!(!again.insert("nonce", "a", "yours", None).await.unwrap());
    assert_eq!(again.get("nonce", "a").await.unwrap().as_deref(), Some("mine"));
    assert!(again.insert("nonce", "b", "yours", None).await.unwrap());
    assert!(!state.insert("nonce", "b", "mine", Some(ZERO)).await.unwrap());
    assert_eq!(state.get("nonce", "b").await.unwrap().as_deref(), Some("yours"));
}

pub async fn a_value_is_replaced_only_if_it_is_the_expected_one(backend: &dyn Backend) {
    let (state, again) = (backend.open().await.shared_state(), backend.open().await.shared_state());
    assert!(!state.replace("token", "a", "", "one", None).await.unwrap(), "there is none");
    state.put("token", "a", "one", None).await.unwrap();
    assert!(!again.replace("token", "a", "two", "three", None).await.unwrap());
    assert!(again.replace("token", "a", "one", "two", Some(LONG)).await.unwrap());
    assert!(!state.replace("token", "a", "one", "three", None).await.unwrap());
    assert_eq!(state.get("token", "a").await.unwrap().as_deref(), Some("two"));
}

pub async fn keys_are_listed_in_order_and_by_prefix(backend: &dyn Backend) {
    let state = backend.open().await.shared_state();
    for key in ["b", "a/2", "a/1", "a", "a0", "c"] {
        state.put("node", key, key, None).await.unwrap();
    }
    state.put("nod", "a/3", "", None).await.unwrap();
    state.put("node2", "a/4", "", None).await.unwrap();
    let keys = async |prefix: &str, limit: usize| -> Vec<String> {
        let listed = state.list("node", prefix, limit).await.unwrap();
        listed.into_iter().inspect(|(key, value)| assert_eq!(key, value)).map(|it| it.0).collect()
    };
    assert_eq!(keys("", 99).await, ["a", "a/1", "a/2", "a0", "b", "c"]);
    assert_eq!(keys("a/", usize::MAX).await, ["a/1", "a/2"]);
    assert_eq!(keys("a", 2).await, ["a", "a/1"]);
    assert!(keys("d", 99).await.is_empty());
    assert!(keys("", 0).await.is_empty());
}

pub async fn keys_with_a_prefix_are_removed_from_all_spaces(backend: &dyn Backend) {
    let state = backend.open().await.shared_state();
    for (space, key) in [("x", "ann/1"), ("x", "ann/2"), ("y", "ann/1"), ("y", "anna/1")] {
        state.put(space, key, "", None).await.unwrap();
    }
    state.put("x", "ann/3", "", Some(ZERO)).await.unwrap();
    assert_eq!(state.remove_prefix("ann/").await.unwrap(), 3);
    assert!(listed(&state, "x", "").await.is_empty());
    assert_eq!(listed(&state, "y", "").await, [("anna/1".to_owned(), String::new())]);
    assert_eq!(state.remove_prefix("ann/").await.unwrap(), 0);
}

pub async fn a_counter_admits_its_limit_and_no_more(backend: &dyn Backend) {
    let (state, again) = (backend.open().await.shared_state(), backend.open().await.shared_state());
    let count = async |amount, limit| state.count("calls", "a", amount, limit, LONG).await.unwrap();
    assert_count(count(0, 3).await, true, 0);
    assert_count(count(4, 3).await, false, 0);
    assert_count(count(2, 3).await, true, 2);
    assert_count(again.count("calls", "a", 2, 3, LONG).await.unwrap(), false, 2);
    assert_count(again.count("calls", "a", 1, 3, LONG).await.unwrap(), true, 3);
    assert_count(count(1, 3).await, false, 3);
    assert_count(count(0, 3).await, true, 3);
    assert_count(count(0, 2).await, false, 3);
    assert_count(count(1, 0).await, false, 3);
    // Another key and another space have counters of their own.
    assert_count(state.count("calls", "b", 1, 1, LONG).await.unwrap(), true, 1);
    assert_count(state.count("tokens", "a", 1, 1, LONG).await.unwrap(), true, 1);
    again.uncount("calls", "a", 2).await.unwrap();
    assert_count(count(2, 3).await, true, 3);
    again.uncount("calls", "a", 9).await.unwrap();
    again.uncount("calls", "unknown", 9).await.unwrap();
    assert_count(count(0, 3).await, true, 0);
    // No sum overflows; a store may saturate below the largest number.
    let most = u64::MAX / 2;
    assert_count(count(most, u64::MAX).await, true, most);
    let more = count(u64::MAX, u64::MAX).await;
    assert!(!more.is_admitted && more.total == most, "{more:?}");
    // Others read its value as they read any, and see the sum.
    let value = state.get("calls", "a").await.unwrap().unwrap();
    let digits = value.split(|c: char| !c.is_ascii_digit()).next();
    assert_eq!(digits.and_then(|digits| digits.parse().ok()), Some(most), "{value}");
}

pub async fn a_counter_restarts_after_its_window(backend: &dyn Backend) {
    let state = backend.open().await.shared_state();
    let mut restarts = 0;
    let mut is_first = true;
    while restarts < 2 {
        let counted = state.count("calls", "a", 1, 1, Duration::from_millis(2)).await.unwrap();
        assert!(counted.resets_in <= Duration::from_millis(2), "{counted:?}");
        assert!(counted.total == 1 || !counted.is_admitted, "{counted:?}");
        restarts += usize::from(counted.is_admitted && !is_first);
        is_first = false;
    }
}

pub async fn a_counter_whose_window_is_shorter_now_restarts(backend: &dyn Backend) {
    let state = backend.open().await.shared_state();
    assert_count(state.count("calls", "a", 1, 1, LONG).await.unwrap(), true, 1);
    assert_count(state.count("calls", "a", 1, 1, LONG).await.unwrap(), false, 1);
    let shorter = LONG / 2;
    let counted = state.count("calls", "a", 1, 1, shorter).await.unwrap();
    assert_count(counted, true, 1);
    assert!(counted.resets_in <= shorter);
    assert_count(state.count("calls", "a", 1, 1, LONG).await.unwrap(), false, 1);
}

pub async fn a_key_that_is_too_long_is_refused(backend: &dyn Backend) {
    let state = backend.open().await.shared_state();
    let (longest, longer) = ("x".repeat(1024), "x".repeat(1025));
    state.put(&longest, &longest, "", None).await.unwrap();
    assert_eq!(state.get(&longest, &longest).await.unwrap().as_deref(), Some(""));
    for error in [
        state.get("x", &longer).await.unwrap_err(),
        state.put("x", &longer, "", None).await.unwrap_err(),
        state.insert(&longer, "x", "", None).await.unwrap_err(),
        state.replace("x", &longer, "", "", None).await.unwrap_err(),
        state.remove("x", &longer).await.unwrap_err(),
        state.list("x", &longer, 9).await.unwrap_err(),
        state.count("x", &longer, 1, 1, LONG).await.unwrap_err(),
        state.uncount("x", &longer, 1).await.unwrap_err(),
    ] {
        let error = error.to_string();
        assert!(error.contains("1025 bytes, and 1024 are the maximum"), "{error}");
    }
}

pub async fn expired_values_do_not_accumulate(backend: &dyn Backend) {
    let state = backend.open().await.shared_state();
    state.put("session", "kept", "", Some(LONG)).await.unwrap();
    state.put("pin", "kept", "", None).await.unwrap();
    for n in 0..400 {
        state.put("session", &n.to_string(), "", Some(ZERO)).await.unwrap();
    }
    assert!(state.get("session", "kept").await.unwrap().is_some());
    assert!(state.get("pin", "kept").await.unwrap().is_some());
    if let Some(rows) = backend.count_shared_values().await {
        assert!((2..300).contains(&rows), "{rows}");
    }
}
