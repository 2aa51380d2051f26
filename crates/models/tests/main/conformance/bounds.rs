//! Answers that are too much.

use toolwright_chat::{ModelErrorKind, ModelEvent};

use crate::canned::{Canned, told};
use crate::said::{Said, Speaks, call};

pub(crate) async fn more_calls_than_any_answer_has_are_refused(speaker: &dyn Speaks) {
    let calls = |count: usize| {
        Said::new((0..count).map(|place| call(&format!("call_{place}"), "clock", "{}")))
    };
    let most = told(speaker, Canned::ok(speaker.streamed(&calls(1_024)))).await;
    assert_eq!(most.calls().len(), 1_024);
    for body in [
        speaker.streamed(&calls(1_025)),
        speaker.whole(&calls(1_025)),
    ] {
        let told = told(speaker, Canned::ok(body)).await;
        let error = told.error.unwrap();
        assert_eq!(error.kind, ModelErrorKind::Protocol);
        assert_eq!(error.message, "the answer has more than 1024 calls");
        let over = |event: &ModelEvent| matches!(event, ModelEvent::Finished { .. });
        assert!(!told.events.iter().any(over));
    }
}

pub(crate) async fn long_arguments_pass_and_endless_ones_do_not(speaker: &dyn Speaks) {
    let long = |mega: usize| {
        let arguments = format!(r#"{{"city":"{}"}}"#, "x".repeat(mega << 20));
        Said::new([call("call_1", "weather", &arguments)])
    };
    let told_long = told(speaker, Canned::ok(speaker.streamed(&long(2)))).await;
    assert!(told_long.calls()[0].arguments.as_str().len() > 2 << 20);
    let told = told(speaker, Canned::ok(speaker.streamed(&long(33)))).await;
    let error = told.error.unwrap();
    assert_eq!(error.kind, ModelErrorKind::Protocol);
    assert!(error.message.contains("is longer than"), "{error}");
}

pub(crate) async fn an_endless_line_is_refused(speaker: &dyn Speaks) {
    let piece = vec![b'x'; 1 << 20];
    for start in ["data: ", "{\"x\":\""] {
        let mut pieces = vec![start.as_bytes().to_vec()];
        pieces.extend(std::iter::repeat_n(piece.clone(), 40));
        let canned = Canned {
            status: 200,
            pieces,
            hangs: true,
            ..Canned::default()
        };
        let error = told(speaker, canned).await.error.unwrap();
        assert_eq!(error.kind, ModelErrorKind::Protocol);
        assert!(error.message.contains("a frame is longer than"), "{error}");
    }
}
