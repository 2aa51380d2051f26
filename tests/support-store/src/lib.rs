//! The conformance suite of the stores: each check is a function of a [`Backend`], and [`store_conformance!`] makes a test of each.
//!
//! A store passes it if what it says it has stored is there, in order, once and for all who open the store, and if of several callers that
//! compete for something one succeeds.

#![allow(missing_docs, reason = "the name of a check says what it checks")]
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise"
)]

use std::sync::Arc;

use futures::future::BoxFuture;
use toolwright::chat::Store;

pub mod appending;
pub mod deletion;
pub mod fixtures;
pub mod inbox;
pub mod keys;
pub mod leasing;
pub mod listing;
pub mod races;
pub mod round_trip;
pub mod shared_state;
pub mod shared_state_races;
pub mod turns;
pub mod unattended;

/// A store for one test, which is empty at first and can be opened several times.
pub trait Backend: Send + Sync {
    /// Opens the store, as another node does, or a process that was restarted. A store that is open in one process only returns what is
    /// open already.
    fn open(&self) -> BoxFuture<'_, Arc<dyn Store>>;

    /// Returns the number of shared values that take room, with those that have expired; `None` if it cannot be known.
    fn count_shared_values(&self) -> BoxFuture<'_, Option<i64>> {
        Box::pin(async { None })
    }
}

/// Makes a test of each check. The argument is evaluated for each of them: a future of an `Option`, with `None` where the store is not
/// installed, and else its [`Backend`].
///
/// ```
/// # #[cfg(test)]
/// mod conformance {
///     test_support_store::store_conformance!(async { Some(MyBackend::new()) });
/// }
/// ```
#[macro_export]
macro_rules! store_conformance {
    ($backend:expr) => {
        $crate::store_conformance! { @ $backend;
                appending:
                    entries_are_loaded_in_the_order_they_were_appended,
                    an_entry_that_is_appended_again_is_stored_once,
                    a_batch_is_stored_whole_or_not_at_all,
                    many_conversations_are_appended_to_at_the_same_time,
                    one_conversation_is_appended_to_by_many_tasks,
                    ten_thousand_entries_are_stored,
                    a_tail_is_read_page_by_page;
                round_trip:
                    json_is_stored_byte_for_byte,
                    names_and_ids_may_be_anything,
                    entries_of_a_newer_version_are_kept_and_skipped,
                    numbers_survive_the_round_trip;
                leasing:
                    a_lease_is_acquired_once_and_renewed_by_its_holder,
                    a_lease_that_is_not_renewed_expires,
                    a_released_lease_is_free,
                    a_holder_that_lost_its_lease_appends_nothing,
                    one_of_many_tasks_acquires_a_lease,
                    a_lease_without_entries_leaves_no_conversation,
                    an_expired_lease_stays_with_its_holder_until_another_acquires_it,
                    a_term_rises_with_every_acquisition,
                    the_holder_of_a_lease_is_known_until_it_expires_or_is_released,
                    a_lease_of_an_earlier_term_is_not_valid,
                    terms_never_repeat_when_many_tasks_acquire_and_remove;
                inbox:
                    items_are_returned_as_they_were_added_and_in_order,
                    an_item_is_added_once,
                    a_full_inbox_accepts_nothing,
                    an_item_is_taken_in_the_append_that_journals_it,
                    an_item_is_withdrawn_once,
                    an_inbox_survives_leases_and_is_deleted_with_its_conversation,
                    a_message_resumes_a_turn_if_it_is_sent_during_the_pause,
                    many_tasks_add_to_one_inbox,
                    an_item_is_not_lost_when_its_conversation_is_removed_meanwhile;
                unattended:
                    a_running_turn_without_a_holder_is_unattended,
                    an_inbox_without_a_holder_is_unattended,
                    an_expired_lease_leaves_its_conversation_unattended,
                    what_a_holder_has_left_is_found_under_its_name;
                keys:
                    the_key_stays_the_same,
                    a_new_key_comes_first_and_old_ones_remain;
                listing:
                    the_latest_conversation_comes_first,
                    the_oldest_of_the_old_conversations_comes_first,
                    an_owner_is_shown_its_own_conversations_only,
                    a_title_is_the_beginning_of_the_first_entry;
                deletion:
                    a_deleted_conversation_is_gone_and_others_stay,
                    only_the_holder_of_its_lease_deletes_a_conversation,
                    only_old_conversations_without_open_work_expire,
                    conversations_that_stay_do_not_hide_those_that_expire;
                shared_state:
                    a_value_is_there_until_it_is_removed,
                    keys_and_values_may_be_anything,
                    a_value_that_has_expired_is_gone,
                    a_key_is_inserted_once,
                    a_value_is_replaced_only_if_it_is_the_expected_one,
                a_value_is_swapped_only_if_it_is_the_expected_one,
                a_swap_keeps_the_end_of_a_value_if_asked_to,
                values_of_one_space_or_of_all_are_scanned_in_order,
                operations_agree_with_those_that_are_made_of_the_three,
                    keys_are_listed_in_order_and_by_prefix,
                    keys_with_a_prefix_are_removed_from_all_spaces,
                    a_counter_admits_its_limit_and_no_more,
                    a_counter_restarts_after_its_window,
                    a_counter_whose_window_is_shorter_now_restarts,
                    a_key_that_is_too_long_is_refused,
                    expired_values_do_not_accumulate;
                shared_state_races:
                    one_of_two_nodes_inserts_a_key,
                    one_of_two_nodes_replaces_a_value,
                    one_of_two_nodes_removes_a_value,
                    one_of_two_nodes_counts_the_last_unit,
                no_swap_of_many_callers_is_lost,
                many_callers_count_up_to_the_limit_and_no_further,
                what_is_put_while_others_remove_is_removed_once;
                races:
                    an_approval_that_two_nodes_receive_is_used_once,
                    the_last_place_of_an_inbox_is_taken_by_one_of_two_nodes,
                    the_last_call_of_a_rate_limit_is_made_by_one_of_two_nodes;
                turns:
                    a_conversation_continues_after_a_restart,
                    a_pending_approval_survives_a_restart,
                    an_approval_is_valid_only_for_the_arguments_it_was_requested_for,
                    messages_of_two_processes_wait_for_each_other;
        }
    };
    (@ $backend:expr; $($file:ident: $($check:ident),+;)+) => {
        $($(#[tokio::test]
        async fn $check() {
            if let Some(backend) = $backend.await {
                $crate::$file::$check(&backend).await;
            }
        })+)+
    };
}
