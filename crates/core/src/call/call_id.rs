//! [`CallId`]: identifies one call within a conversation.

use std::sync::atomic::{AtomicU64, Ordering};

use super::shared_text;

shared_text! {
    /// Identifies one call within a conversation.
    CallId
}

impl CallId {
    /// Makes an id that is unique in this process: `call_1`, `call_2` and so on.
    pub(super) fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self::from_number(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// Makes `call_7` of 7 without an intermediate `String`: [`ToolCall::new`](crate::ToolCall::new) runs this for every call.
    fn from_number(mut number: u64) -> Self {
        const PREFIX: &[u8; 5] = b"call_";
        let mut text = [0; 25];
        let mut start = text.len();
        for digit in text.iter_mut().rev() {
            *digit = b'0' + (number % 10) as u8;
            number /= 10;
            start -= 1;
            if number == 0 {
                break;
            }
        }
        let start = start.saturating_sub(PREFIX.len());
        for (byte, letter) in text.iter_mut().skip(start).zip(PREFIX) {
            *byte = *letter;
        }
        let written = text.get(start..).and_then(|text| std::str::from_utf8(text).ok());
        Self::from(written.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::CallId;

    #[test]
    fn numbers_are_written_out() {
        for number in [1, 9, 10, 123_456, u64::MAX] {
            assert_eq!(CallId::from_number(number).as_str(), format!("call_{number}"));
        }
    }
}
