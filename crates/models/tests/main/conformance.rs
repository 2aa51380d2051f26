//! The scenarios that every protocol must pass: a new protocol needs a fixture, and no test.

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

/// Runs all scenarios over a protocol, with paused time.
macro_rules! conforms {
    ($protocol:ident) => {
        conforms! { $protocol:
            a_text_is_streamed_and_then_complete,
            one_call_is_streamed_and_then_complete,
            parallel_calls_stay_separate,
            empty_arguments_are_none,
            malformed_arguments_are_delivered_as_they_are,
            tokens_are_counted,
            responses_have_their_stop_reason,
            hosted_searches_are_items,
            unknown_items_and_events_change_nothing,
            a_response_without_streaming_is_the_same,
            a_complete_body_instead_of_a_stream_is_read,
            responses_do_not_depend_on_how_bytes_are_split,
            a_call_and_its_result_are_in_the_next_request,
            call_after_call_adds_up,
            a_failed_result_is_marked_as_one,
            an_image_in_a_result_is_carried,
            reasoning_is_replayed_unchanged,
            unknown_items_are_replayed_or_left_out,
            structured_output_is_parsed_and_lifted,
            a_search_of_the_vendor_keeps_its_name,
            keys_of_servers_are_not_shown,
            hosted_tools_are_those_of_the_vendor,
            dropping_a_response_ends_it,
            dropping_a_request_ends_it,
            a_busy_vendor_is_retried,
            a_retry_after_hours_is_not_awaited,
            an_account_without_credit_is_not_retried,
            a_stream_that_fails_at_once_is_retried,
            an_error_body_with_status_200_is_an_error,
            nothing_is_retried_after_the_first_event,
            a_truncated_response_has_no_calls,
            garbage_is_an_error,
            a_page_is_an_error_that_shows_it,
            a_redirect_is_not_followed,
            an_error_begins_with_the_vendor,
            silence_has_an_end,
            the_connection_is_not_awaited_after_the_last_frame,
            too_many_calls_are_an_error,
            long_arguments_pass_and_endless_ones_do_not,
            an_endless_line_is_an_error,
        }
    };
    ($protocol:ident : $($scenario:ident),* $(,)?) => {
        $(
            #[tokio::test(start_paused = true)]
            async fn $scenario() {
                crate::conformance::$scenario(&$protocol).await;
            }
        )*
    };
}
