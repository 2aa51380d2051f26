//! Answers that are too much.

use toolwright_chat::{ModelErrorKind, ModelEvent};

use crate::canned_transport::{CannedResponse, told};
use crate::protocol_fixture::{ProtocolFixture, ScenarioReply, call};

pub(crate) async fn more_calls_than_any_answer_has_are_refused(speaker: &dyn ProtocolFixture) {
    let calls = |count: usize| {
        ScenarioReply::new((0..count).map(|place| call(&format!("call_{place}"), "clock", "{}")))
    };
    let most = told(speaker, CannedResponse::ok(speaker.streamed(&calls(1_024)))).await;
    assert_eq!(most.calls().len(), 1_024);
    for body in [
        speaker.streamed(&calls(1_025)),
        speaker.complete_body(&calls(1_025)),
    ] {
        let told = told(speaker, CannedResponse::ok(body)).await;
        let error = told.error.unwrap();
        assert_eq!(error.kind, ModelErrorKind::Protocol);
        assert_eq!(error.message, "the answer has more than 1024 calls");
        let over = |event: &ModelEvent| matches!(event, ModelEvent::Finished { .. });
        assert!(!told.events.iter().any(over));
    }
}

pub(crate) async fn long_arguments_pass_and_endless_ones_do_not(speaker: &dyn ProtocolFixture) {
    let long = |mega: usize| {
        let arguments = format!(r#"{{"city":"{}"}}"#, "x".repeat(mega << 20));
        ScenarioReply::new([call("call_1", "weather", &arguments)])
    };
    let told_long = told(speaker, CannedResponse::ok(speaker.streamed(&long(2)))).await;
    assert!(told_long.calls()[0].arguments.as_str().len() > 2 << 20);
    let told = told(speaker, CannedResponse::ok(speaker.streamed(&long(33)))).await;
    let error = told.error.unwrap();
    assert_eq!(error.kind, ModelErrorKind::Protocol);
    assert!(error.message.contains("is longer than"), "{error}");
}

pub(crate) async fn an_endless_line_is_refused(speaker: &dyn ProtocolFixture) {
    let piece = vec![b'x'; 1 << 20];
    for start in ["data: ", "{\"x\":\""] {
        let mut pieces = vec![start.as_bytes().to_vec()];
        pieces.extend(std::iter::repeat_n(piece.clone(), 40));
        let canned = CannedResponse {
            status: 200,
            pieces,
            hangs: true,
            ..CannedResponse::default()
        };
        let error = told(speaker, canned).await.error.unwrap();
        assert_eq!(error.kind, ModelErrorKind::Protocol);
        assert!(error.message.contains("a frame is longer than"), "{error}");
    }
}
