//! One list of scenarios that every protocol goes through: whoever adds a protocol writes how its vendor speaks, and no test.

mod failures;
mod limits;
mod responses;
mod round_trips;
mod structured_output;

pub(crate) use failures::*;
pub(crate) use limits::*;
pub(crate) use responses::*;
pub(crate) use round_trips::*;
pub(crate) use structured_output::*;

/// Puts a speaker through all scenarios; time does not pass by itself in them.
macro_rules! conforms {
    ($speaker:ident) => {
        conforms! { $speaker:
            a_text_comes_in_pieces_and_then_whole,
            one_call_is_told_as_it_comes_and_then_whole,
            calls_beside_each_other_stay_apart,
            empty_arguments_are_none,
            malformed_arguments_are_delivered_as_they_are,
            tokens_are_counted,
            answers_end_for_the_reasons_there_are,
            what_the_vendor_searched_is_told,
            unknown_items_and_events_do_no_harm,
            an_answer_in_one_piece_says_the_same,
            one_piece_where_a_stream_was_asked_for_is_read_all_the_same,
            answers_do_not_depend_on_where_they_are_cut,
            a_call_and_its_result_are_told_in_the_next_request,
            call_after_call_adds_up,
            a_failed_result_is_marked_as_one,
            an_image_in_a_result_is_carried,
            what_was_thought_goes_back_as_it_came,
            what_nobody_knows_goes_back_or_stays_away,
            an_answer_in_a_form_is_read_as_it_was_meant,
            a_search_of_the_vendor_keeps_its_name,
            keys_of_servers_are_not_shown,
            hosted_tools_are_those_of_the_vendor,
            dropping_an_answer_ends_it,
            dropping_a_question_ends_it,
            a_busy_vendor_is_asked_again,
            a_vendor_that_asks_for_hours_is_not_waited_for,
            an_account_without_credit_is_not_asked_again,
            a_vendor_that_gives_up_at_once_is_asked_again,
            an_error_in_one_piece_is_no_answer,
            nothing_is_asked_again_once_something_was_told,
            an_answer_that_is_cut_off_runs_nothing,
            garbage_is_an_error_and_not_an_answer,
            a_page_is_an_error_that_shows_it,
            a_redirect_is_not_followed,
            silence_has_an_end,
            nobody_is_waited_for_who_has_said_all,
            more_calls_than_any_answer_has_are_refused,
            long_arguments_pass_and_endless_ones_do_not,
            an_endless_line_is_refused,
        }
    };
    ($speaker:ident : $($scenario:ident),* $(,)?) => {
        $(
            #[tokio::test(start_paused = true)]
            async fn $scenario() {
                crate::conformance::$scenario(&$speaker).await;
            }
        )*
    };
}
