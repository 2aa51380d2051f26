//! Searches everything that was written for every secret that was issued.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;

use super::collector::Collector;
use super::program::Program;
use super::shop::Shop;

/// Panics if a token, a code or a key is in the clear in a file, an export, a backup, the output of a command, a log or telemetry.
pub(crate) fn assert_nothing_secret_is_written(shop: &Shop, program: &Program) {
    let found = find_secrets(shop, program);
    assert!(found.is_empty(), "secrets are in {found:?}");
}

/// The places with a secret: paths of files, `output` or `telemetry`.
fn find_secrets(shop: &Shop, program: &Program) -> BTreeSet<String> {
    for file in ["export.jsonl", "backup.sqlite"] {
        // Of a search before.
        let _ = fs::remove_file(program.path().join(file));
    }
    for command in [
        &["conversations", "export", "sum", "export.jsonl"][..],
        &["store", "backup", "backup.sqlite"],
        &["config", "show"],
        &["mcp", "list", "--json"],
    ] {
        // Not every test has a conversation, and a server that wants a login is an error of `mcp list`.
        program.run(command);
    }
    let key_file = program.path().join(".local/share/toolwright/credentials.key");
    let keys = fs::read_to_string(&key_file).unwrap();
    let mut secrets = shop.secrets();
    assert!(secrets.len() >= 3, "{}", secrets.len());
    secrets.extend(keys.lines().map(str::to_owned));
    let mut places = Vec::new();
    collect_files(program.path(), &mut places);
    places.retain(|(path, _)| *path != key_file.display().to_string());
    assert!(places.iter().any(|(path, _)| path.ends_with("conversations.sqlite")), "no store");
    let telemetry = program.collector().received();
    assert!(!Collector::is_used() || contains(&telemetry, b"service.name"), "no telemetry");
    places.push(("telemetry".to_owned(), telemetry));
    places.push(("output".to_owned(), program.printed().into_bytes()));
    let forms: Vec<Vec<u8>> = secrets.iter().flat_map(|secret| encoded_forms(secret)).collect();
    let has_secret = |bytes: &[u8]| forms.iter().any(|form| contains(bytes, form));
    places.retain(|(_, bytes)| has_secret(bytes));
    let name = |path: &str| path.rsplit('/').next().map(str::to_owned);
    places.iter().filter_map(|(path, _)| name(path)).collect()
}

/// A secret as it is, in hexadecimal digits, and in base64 at each of its three alignments, as in a `Basic` header.
fn encoded_forms(secret: &str) -> Vec<Vec<u8>> {
    let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    let mut forms = vec![secret.as_bytes().to_vec(), hex.into_bytes()];
    for skipped in 0..3 {
        // What comes before and after shares characters with it: only those in the middle are its own.
        let bytes = secret.as_bytes().get((3 - skipped) % 3..).unwrap();
        let whole = bytes.len() / 3 * 3;
        forms.push(base64(&bytes[..whole]));
    }
    forms
}

fn base64(bytes: &[u8]) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = bytes.chunks_exact(3).flat_map(|chunk| {
        let number = chunk.iter().fold(0usize, |number, byte| number << 8 | usize::from(*byte));
        [18, 12, 6, 0].map(|shift| DIGITS[number >> shift & 63])
    });
    digits.collect()
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    let first = part[0];
    let mut from = 0;
    // Finding the first byte is what the standard library does fast, and there are megabytes to search.
    while let Some(at) = bytes[from..].iter().position(|byte| *byte == first) {
        from += at;
        if bytes[from..].starts_with(part) {
            return true;
        }
        from += 1;
    }
    false
}

fn collect_files(folder: &Path, files: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => collect_files(&path, files),
            false => files.push((path.display().to_string(), fs::read(&path).unwrap())),
        }
    }
}

#[test]
fn a_secret_that_is_planted_is_found_wherever_it_is() {
    let Some(shop) = Shop::start() else { return };
    let Some(program) = Program::new(&shop) else { return };
    program.log_in();
    program.call();
    assert_nothing_secret_is_written(&shop, &program);

    // In the clear in a span, and in the base64 of a header.
    let secret = shop.secrets().pop().unwrap();
    let mut collector =
        TcpStream::connect(program.collector().url.trim_start_matches("http://")).unwrap();
    write!(
        collector,
        "POST /v1/traces HTTP/1.1\r\ncontent-length: {}\r\n\r\n{secret}",
        secret.len()
    )
    .unwrap();
    let mut answer = [0];
    collector.read_exact(&mut answer).unwrap();
    assert_eq!(find_secrets(&shop, &program), BTreeSet::from(["telemetry".to_owned()]));
    let header = format!("client:{secret}..");
    let header = &header[..header.len() / 3 * 3];
    program.record_text(std::str::from_utf8(&base64(header.as_bytes())).unwrap());
    let found = find_secrets(&shop, &program);
    assert_eq!(found, BTreeSet::from(["output".to_owned(), "telemetry".to_owned()]));

    // In a message: the journal has it, and with it the database, its backup and the export.
    program.run(&["chat", "--conversation", "sum", "--once", &format!("Remember {secret}")]);
    let found = find_secrets(&shop, &program);
    for place in ["backup.sqlite", "export.jsonl"] {
        assert!(found.contains(place), "{place} is not in {found:?}");
    }
    assert!(found.iter().any(|place| place.starts_with("conversations.sqlite")), "{found:?}");
}
