//! Responses that exceed the limits.

use toolwright_chat::{ModelErrorKind, ModelEvent};
use toolwright_models::Bytes;

use crate::canned_transport::{CannedResponse, collect_response};
use crate::protocol_fixture::{ProtocolFixture, ScenarioReply, call};

pub(crate) async fn too_many_calls_are_an_error(protocol: &dyn ProtocolFixture) {
    let calls = |count: usize| {
        ScenarioReply::new((0..count).map(|place| call(&format!("call_{place}"), "clock", "{}")))
    };
    let most =
        collect_response(protocol, CannedResponse::ok(protocol.streamed(&calls(1_024)))).await;
    assert_eq!(most.calls().len(), 1_024);
    for body in [protocol.streamed(&calls(1_025)), protocol.complete_body(&calls(1_025))] {
        let collected = collect_response(protocol, CannedResponse::ok(body)).await;
        let error = collected.error.unwrap();
        assert_eq!(error.kind, ModelErrorKind::Protocol);
        assert!(error.message.ends_with(": the answer has more than 1024 calls"), "{error}");
        let over = |event: &ModelEvent| matches!(event, ModelEvent::Finished { .. });
        assert!(!collected.events.iter().any(over));
    }
}

pub(crate) async fn long_arguments_pass_and_endless_ones_do_not(protocol: &dyn ProtocolFixture) {
    let long = |mega: usize| {
        let arguments = format!(r#"{{"city":"{}"}}"#, "x".repeat(mega << 20));
        ScenarioReply::new([call("call_1", "weather", &arguments)])
    };
    let long_response =
        collect_response(protocol, CannedResponse::ok(protocol.streamed(&long(2)))).await;
    assert!(long_response.calls()[0].arguments.as_str().len() > 2 << 20);
    let collected =
        collect_response(protocol, CannedResponse::ok(protocol.streamed(&long(33)))).await;
    let error = collected.error.unwrap();
    assert_eq!(error.kind, ModelErrorKind::Protocol);
    assert!(error.message.contains("is longer than"), "{error}");
}

pub(crate) async fn an_endless_line_is_an_error(protocol: &dyn ProtocolFixture) {
    let chunk = Bytes::from(vec![b'x'; 1 << 20]);
    for start in ["data: ", "{\"x\":\""] {
        let mut canned = CannedResponse::ok(start).hanging();
        canned.chunks.extend(std::iter::repeat_n(chunk.clone(), 40));
        let error = collect_response(protocol, canned).await.error.unwrap();
        assert_eq!(error.kind, ModelErrorKind::Protocol);
        assert!(error.message.contains("a frame is longer than"), "{error}");
    }
}
