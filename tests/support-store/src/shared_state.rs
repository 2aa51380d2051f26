//! Values and counters that all programs with the same store share.

use std::time::Duration;

use toolwright::{Count, SharedState, TimeToLive};

use crate::Backend;
use crate::fixtures::{LONG, Primitives};

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

pub async fn a_value_is_swapped_only_if_it_is_the_expected_one(backend: &dyn Backend) {
    let (state, again) = (backend.open().await.shared_state(), backend.open().await.shared_state());
    let swap = async |expected: Option<&str>, new: Option<&str>, ttl| {
        let is_swapped = state.swap("token", "a", expected, new, ttl).await.unwrap();
        (is_swapped, again.get("token", "a").await.unwrap())
    };
    let (forever, long) = (TimeToLive::Forever, TimeToLive::For(LONG));
    let value = |text: &str| Some(text.to_owned());
    assert_eq!(swap(None, None, forever).await, (true, None));
    assert_eq!(swap(Some(""), Some("one"), forever).await, (false, None));
    assert_eq!(swap(Some(""), None, forever).await, (false, None));
    // There is nothing whose end could be kept.
    assert_eq!(swap(None, Some("one"), TimeToLive::Unchanged).await, (true, value("one")));
    assert_eq!(swap(None, Some("two"), forever).await, (false, value("one")));
    assert_eq!(swap(None, None, forever).await, (false, value("one")));
    assert_eq!(swap(Some("two"), None, forever).await, (false, value("one")));
    assert_eq!(swap(Some("one"), Some("two\0"), long).await, (true, value("two\0")));
    assert_eq!(swap(Some("two"), Some("three"), long).await, (false, value("two\0")));
    assert_eq!(swap(Some("two\0"), Some(""), TimeToLive::Unchanged).await, (true, value("")));
    assert_eq!(swap(Some(""), None, forever).await, (true, None));
    // What has expired is no value, and its end is not kept.
    assert_eq!(swap(None, Some("short"), TimeToLive::For(ZERO)).await, (true, None));
    assert_eq!(swap(Some("short"), Some("new"), TimeToLive::Unchanged).await, (false, None));
    assert_eq!(swap(None, Some("new"), TimeToLive::Unchanged).await, (true, value("new")));
}

pub async fn a_swap_keeps_the_end_of_a_value_if_asked_to(backend: &dyn Backend) {
    let (state, again) = (backend.open().await.shared_state(), backend.open().await.shared_state());
    let left = async || {
        let scanned = again.scan(Some("session"), "a", 1).await.unwrap();
        scanned.first().map(|it| it.expires_in)
    };
    let swap = async |expected: &str, ttl| {
        assert!(state.swap("session", "a", Some(expected), Some("x"), ttl).await.unwrap());
    };
    state.put("session", "a", "one", Some(LONG / 2)).await.unwrap();
    let first = left().await.unwrap().unwrap();
    assert!(first <= LONG / 2 && first > LONG / 4, "{first:?}");
    swap("one", TimeToLive::Unchanged).await;
    let second = left().await.unwrap().unwrap();
    assert!(second <= first && second > LONG / 4, "{second:?}");
    swap("x", TimeToLive::For(LONG)).await;
    assert!(left().await.unwrap().unwrap() > LONG / 2);
    swap("x", TimeToLive::Forever).await;
    assert_eq!(left().await, Some(None));
    swap("x", TimeToLive::Unchanged).await;
    assert_eq!(left().await, Some(None));
    swap("x", TimeToLive::For(ZERO)).await;
    assert_eq!(left().await, None);
}

pub async fn values_of_one_space_or_of_all_are_scanned_in_order(backend: &dyn Backend) {
    let state = backend.open().await.shared_state();
    let stored = [("", "ann/0"), ("x", "ann/1"), ("x", "ann/2"), ("y", "ann/1"), ("y", "anna/1")];
    for (space, key) in stored.into_iter().rev() {
        state.put(space, key, key, None).await.unwrap();
    }
    state.put("x", "ann/3", "", Some(ZERO)).await.unwrap();
    state.put("x", "an", "", None).await.unwrap();
    let scan = async |space: Option<&'static str>, prefix: &'static str, limit: usize| {
        let scanned = state.scan(space, prefix, limit).await.unwrap();
        let scanned = scanned.into_iter().inspect(|it| assert_eq!(it.key, it.value));
        scanned.map(|it| (it.space, it.key)).collect::<Vec<_>>()
    };
    let expected = |expected: &[(&str, &str)]| -> Vec<(String, String)> {
        expected.iter().map(|(space, key)| ((*space).to_owned(), (*key).to_owned())).collect()
    };
    assert_eq!(scan(None, "ann", 99).await, expected(&stored));
    assert_eq!(scan(None, "ann/", usize::MAX).await, expected(&stored[..4]));
    assert_eq!(scan(None, "ann", 2).await, expected(&stored[..2]));
    assert_eq!(scan(Some("x"), "ann/", 99).await, expected(&stored[1..3]));
    assert_eq!(scan(Some(""), "", 99).await, expected(&stored[..1]));
    assert!(scan(None, "ann", 0).await.is_empty());
    assert!(scan(Some("z"), "", 99).await.is_empty());
}

pub async fn operations_agree_with_those_that_are_made_of_the_three(backend: &dyn Backend) {
    let state = backend.open().await.shared_state();
    let made = Primitives(backend.open().await.shared_state());
    let both: [&dyn SharedState; 2] = [&state, &made];
    // Counters go on where the other one has counted.
    for n in 1..=6 {
        let counted = both[n % 2].count("calls", "a", 1, 5, LONG).await.unwrap();
        assert_count(counted, n <= 5, n.min(5) as u64);
    }
    for state in both {
        state.uncount("calls", "a", 1).await.unwrap();
    }
    for (state, expected) in both.into_iter().zip([4, 5]) {
        assert_count(state.count("calls", "a", 1, 5, LONG).await.unwrap(), true, expected);
        assert_count(state.count("calls", "a", 0, 5, LONG).await.unwrap(), true, expected);
        assert_count(state.count("calls", "b", 0, 5, LONG).await.unwrap(), true, 0);
    }
    let most = i64::MAX as u64;
    for (one, other) in [(both[0], both[1]), (both[1], both[0])] {
        // Restarts, as the window is shorter; and what is no counter is one at zero.
        assert_count(one.count("calls", "a", 1, 5, LONG).await.unwrap(), false, 5);
        assert_count(one.count("calls", "a", 2, 5, LONG / 2).await.unwrap(), true, 2);
        assert_count(other.count("calls", "a", 4, 5, LONG / 2).await.unwrap(), false, 2);
        assert_count(other.count("calls", "a", 3, 5, LONG / 2).await.unwrap(), true, 5);
        for (value, ttl) in [("text", None), ("7", None), ("text", Some(LONG / 2))] {
            other.put("calls", "c", value, ttl).await.unwrap();
            assert_count(one.count("calls", "c", 1, 1, LONG).await.unwrap(), true, 1);
        }
        other.remove("calls", "c").await.unwrap();
        assert_count(one.count("calls", "c", most, u64::MAX, LONG).await.unwrap(), true, most);
        assert_count(other.count("calls", "c", 1, most, LONG).await.unwrap(), false, most);
        other.uncount("calls", "c", most - 1).await.unwrap();
        assert_count(one.count("calls", "c", 1, 2, LONG).await.unwrap(), true, 2);
        assert_eq!(one.remove_prefix("c").await.unwrap(), 1);
        assert_eq!(
            other.remove("calls", "a").await.unwrap().map(|it| it.starts_with('5')),
            Some(true)
        );
        one.count("calls", "a", 5, 5, LONG).await.unwrap();
    }
    for (one, other) in [(both[0], both[1]), (both[1], both[0])] {
        one.put("pin", "a", "one", None).await.unwrap();
        other.put("pin", "a", "two", Some(LONG)).await.unwrap();
        assert!(!one.insert("pin", "a", "three", None).await.unwrap());
        assert!(other.replace("pin", "a", "two", "three", None).await.unwrap());
        assert_eq!(listed(one, "pin", "").await, listed(other, "pin", "").await);
        assert_eq!(one.remove("pin", "a").await.unwrap().as_deref(), Some("three"));
        assert_eq!(other.remove("pin", "a").await.unwrap(), None);
        for n in 0..600 {
            let space = if n % 2 == 0 { "x" } else { "y" };
            one.put(space, &format!("ann/{n}"), "", None).await.unwrap();
        }
        assert_eq!(other.remove_prefix("ann/").await.unwrap(), 600);
    }
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
        state.swap("x", &longer, None, None, TimeToLive::Forever).await.unwrap_err(),
        state.scan(Some(&longer), "", 9).await.unwrap_err(),
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
