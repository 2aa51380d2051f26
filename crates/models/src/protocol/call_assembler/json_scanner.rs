//! Detects where streamed JSON is complete.

/// Scans JSON incrementally, counting brackets and quotes.
///
/// It does not validate: a text that is not JSON is never complete.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct JsonScanner {
    has_started: bool,
    depth: usize,
    in_string: bool,
    escaped: bool,
    complete: bool,
}

impl JsonScanner {
    /// Returns true once one value has ended.
    pub(super) fn is_complete(&self) -> bool {
        self.complete
    }

    /// Scans the next part of the text.
    pub(super) fn scan(&mut self, text: &str) {
        for byte in text.bytes() {
            self.scan_byte(byte);
        }
    }

    fn scan_byte(&mut self, byte: u8) {
        if self.complete {
            return;
        }
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => {
                    self.in_string = false;
                    self.complete = self.depth == 0;
                }
                _ => {}
            }
            return;
        }
        match byte {
            b'{' | b'[' => self.depth += 1,
            // Arguments that are one string are JSON that was encoded twice.
            b'"' if self.depth > 0 || !self.has_started => self.in_string = true,
            b'}' | b']' if self.depth > 0 => {
                self.depth -= 1;
                self.complete = self.depth == 0;
            }
            _ => {}
        }
        self.has_started |= !byte.is_ascii_whitespace();
    }
}
