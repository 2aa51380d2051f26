//! [`Vector`]: an embedding in a byte per number, with its form in the shared state.

use data_encoding::BASE64;

/// The longest vector that is accepted.
const MAX_DIMENSIONS: usize = 16_384;

/// A direction: only the angle between two of them means anything.
///
/// A byte per number is precise enough to order tools, and a quarter of the memory. A vector that was stored equals the one
/// that was computed, so that results do not depend on which of them is used.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Vector(Box<[i8]>);

impl Vector {
    /// Returns `None` for a vector without a direction, or of an impossible length.
    pub(crate) fn new(numbers: &[f32]) -> Option<Self> {
        let greatest = numbers.iter().fold(0.0_f32, |max, number| max.max(number.abs()));
        if !greatest.is_normal() || numbers.len() > MAX_DIMENSIONS {
            return None;
        }
        // `as` saturates, and turns NaN into 0.
        Some(Self(numbers.iter().map(|number| (number / greatest * 127.0).round() as i8).collect()))
    }

    /// Returns the cosine of the angle; 0 if the lengths differ.
    pub(crate) fn cosine(&self, other: &Self) -> f32 {
        if self.0.len() != other.0.len() {
            return 0.0;
        }
        let dot = |a: &[i8], b: &[i8]| -> f32 {
            a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum::<i32>() as f32
        };
        let lengths = dot(&self.0, &self.0) * dot(&other.0, &other.0);
        dot(&self.0, &other.0) / lengths.sqrt().max(f32::MIN_POSITIVE)
    }

    /// Returns the form in the shared state.
    pub(crate) fn to_text(&self) -> String {
        let bytes: Vec<u8> = self.0.iter().map(|number| number.cast_unsigned()).collect();
        BASE64.encode(&bytes)
    }

    /// Reads the form in the shared state.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let bytes = BASE64.decode(text.as_bytes()).ok()?;
        let is_valid = !bytes.is_empty() && bytes.len() <= MAX_DIMENSIONS;
        is_valid.then(|| Self(bytes.into_iter().map(u8::cast_signed).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_has_the_direction_of_its_numbers() {
        let vector = |numbers: &[f32]| Vector::new(numbers).unwrap();
        assert!(vector(&[3.0, 4.0]).cosine(&vector(&[0.3, 0.4])) > 0.999);
        assert!(vector(&[3.0, 4.0]).cosine(&vector(&[-4.0, 3.0])).abs() < 0.02);
        assert_eq!(vector(&[1.0]).cosine(&vector(&[1.0, 0.0])), 0.0);
    }

    #[test]
    fn a_stored_vector_equals_the_computed_one() {
        let vector = Vector::new(&[0.25, -1.0, f32::NAN, 0.0]).unwrap();
        assert_eq!(Vector::from_text(&vector.to_text()), Some(vector));
        assert_eq!(Vector::from_text("?"), None);
    }

    #[test]
    fn numbers_without_a_direction_are_no_vector() {
        for numbers in [&[][..], &[0.0, 0.0], &[f32::INFINITY], &[f32::NAN]] {
            assert_eq!(Vector::new(numbers), None);
        }
    }
}
