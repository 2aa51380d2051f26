//! What every store has to do: each line below is a test of each store.

mod appending;
mod deletion;
mod leasing;
mod listing;
mod round_trip;
mod turns;

macro_rules! every_store {
    ($($file:ident: $($check:ident),+;)+) => {
        mod memory {
            use crate::backend::Place;
            $($(#[tokio::test]
            async fn $check() {
                super::$file::$check(&Place::memory()).await;
            })+)+
        }

        #[cfg(feature = "sqlite")]
        mod sqlite {
            use crate::backend::Place;
            $($(#[tokio::test]
            async fn $check() {
                super::$file::$check(&Place::sqlite()).await;
            })+)+
        }

        #[cfg(feature = "postgres")]
        mod postgres {
            use crate::backend::Place;
            $($(#[tokio::test]
            async fn $check() {
                if let Some(place) = Place::postgres().await {
                    super::$file::$check(&place).await;
                }
            })+)+
        }
    };
}

every_store! {
    appending:
        entries_come_back_in_the_order_they_were_told,
        an_entry_that_is_told_again_is_the_same_one,
        a_batch_is_kept_whole_or_not_at_all,
        conversations_are_told_at_the_same_time,
        one_conversation_is_told_from_many_tasks,
        ten_thousand_entries_are_kept,
        a_tail_is_read_page_by_page;
    round_trip:
        json_stays_as_it_was_written,
        names_and_ids_may_be_anything,
        the_key_stays_the_same,
        numbers_are_the_same_when_they_are_read_again;
    leasing:
        a_lease_is_taken_once_and_renewed_by_its_holder,
        a_lease_ends_by_itself,
        a_lease_that_is_given_back_is_free,
        whoever_lost_a_lease_appends_nothing,
        one_of_many_takes_a_lease,
        a_lease_leaves_nothing_behind,
        a_lease_that_ran_out_and_that_no_other_took_is_still_its_holders;
    listing:
        the_latest_conversation_comes_first,
        an_owner_is_shown_its_own_conversations_only,
        a_title_is_the_beginning_of_what_was_said_first;
    deletion:
        a_forgotten_conversation_is_gone_and_others_stay,
        only_its_holder_forgets_a_conversation;
    turns:
        a_conversation_goes_on_where_it_was_left,
        an_approval_that_waits_survives_a_restart,
        an_approval_is_for_the_arguments_it_was_asked_for,
        prompts_of_two_processes_wait_for_each_other;
}
