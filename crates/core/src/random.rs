//! Random names and keys.

use data_encoding::HEXLOWER;

/// Returns random bytes of the operating system as hexadecimal digits, two for each byte.
///
/// # Errors
///
/// When the operating system has no random numbers.
pub fn random_hex(bytes: usize) -> Result<String, getrandom::Error> {
    let mut random = vec![0; bytes];
    getrandom::fill(&mut random)?;
    Ok(HEXLOWER.encode(&random))
}
