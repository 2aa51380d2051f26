//! The conformance suite: each line of `every_bus!` is a test of every bus.

mod delivery;
mod load;
mod messages;

macro_rules! every_bus {
    ($($file:ident: $($check:ident),+;)+) => {
        mod in_process {
            use crate::backend::Backend;
            $($(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $check() {
                super::$file::$check(&Backend::in_process()).await;
            })+)+
        }

        mod postgres {
            use crate::backend::Backend;
            $($(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $check() {
                if let Some(backend) = Backend::postgres().await {
                    super::$file::$check(&backend).await;
                }
            })+)+
        }

        mod nats {
            use crate::backend::Backend;
            $($(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $check() {
                if let Some(backend) = Backend::nats().await {
                    super::$file::$check(&backend).await;
                }
            })+)+
        }
    };
}

every_bus! {
    delivery:
        every_subscription_of_other_nodes_receives_a_message,
        a_node_does_not_receive_its_own_messages,
        messages_of_other_channels_are_not_received,
        messages_arrive_in_the_order_in_which_they_were_published,
        a_subscription_that_was_dropped_leaves_others_alone,
        what_was_published_before_the_bus_was_dropped_arrives,
        nothing_is_queued_after_a_flush;
    messages:
        a_message_is_received_byte_for_byte,
        names_of_channels_may_be_anything,
        a_big_message_is_received_whole_and_in_its_place,
        a_message_that_is_too_large_is_a_gap,
        equal_messages_are_all_received;
    load:
        several_nodes_publish_to_one_channel_at_the_same_time,
        two_thousand_channels_are_kept_apart,
        a_slow_reader_receives_a_gap_and_goes_on;
}
