//! Arguments in pieces in, whether they are whole out.

/// Follows JSON as it grows, as far as brackets and quotes go.
///
/// It judges nothing: what is not JSON is never whole, and passes all the same.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scan {
    begun: bool,
    depth: usize,
    quoted: bool,
    escaped: bool,
    whole: bool,
}

impl Scan {
    /// Whether one value has begun and ended.
    pub(super) fn is_whole(&self) -> bool {
        self.whole
    }

    /// Reads on.
    pub(super) fn read(&mut self, text: &str) {
        for byte in text.bytes() {
            self.step(byte);
        }
    }

    fn step(&mut self, byte: u8) {
        if self.whole {
            return;
        }
        if self.quoted {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => {
                    self.quoted = false;
                    self.whole = self.depth == 0;
                }
                _ => {}
            }
            return;
        }
        match byte {
            b'{' | b'[' => self.depth += 1,
            // Arguments that are one text are JSON that was written twice.
            b'"' if self.depth > 0 || !self.begun => self.quoted = true,
            b'}' | b']' if self.depth > 0 => {
                self.depth -= 1;
                self.whole = self.depth == 0;
            }
            _ => {}
        }
        self.begun |= !byte.is_ascii_whitespace();
    }
}
