//! How much a jail gives out at once.

use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use toolwright_guard::JailError;

use super::Prison;

#[test]
fn a_huge_file_is_cut_at_a_mebibyte() {
    let prison = Prison::new();
    let mut huge = fs::File::create(prison.inside("huge.txt")).unwrap();
    huge.write_all("x".repeat(1 << 20).as_bytes()).unwrap();
    // A hole, which takes no room; it is never read.
    huge.set_len(1 << 40).unwrap();
    let read = prison.jail.read("huge.txt").unwrap();
    assert_eq!(
        (read.text.len(), read.cut, read.size),
        (1 << 20, true, 1 << 40)
    );
}

#[test]
fn a_file_as_long_as_the_limit_is_whole() {
    let prison = Prison::new();
    let read = prison.jail.clone().max_bytes(6).read("note.txt").unwrap();
    assert_eq!(
        (read.text.as_str(), read.cut, read.size),
        ("a note", false, 6)
    );
    let read = prison.jail.clone().max_bytes(5).read("note.txt").unwrap();
    assert_eq!(
        (read.text.as_str(), read.cut, read.size),
        ("a not", true, 6)
    );
}

#[test]
fn a_character_is_not_cut_in_two() {
    let prison = Prison::new();
    fs::write(prison.inside("price"), "12 €").unwrap();
    let read = prison.jail.clone().max_bytes(4).read("price").unwrap();
    assert_eq!((read.text.as_str(), read.cut), ("12 ", true));
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let prison = Prison::new();
    fs::write(prison.inside("image"), b"\x89PNG\0\0").unwrap();
    let error = prison.jail.read("image").unwrap_err();
    assert!(matches!(error, JailError::NotText { .. }), "{error:?}");
    let mut bytes = Vec::new();
    prison
        .jail
        .open("image")
        .unwrap()
        .read_to_end(&mut bytes)
        .unwrap();
    assert_eq!(bytes, b"\x89PNG\0\0");
}

#[test]
fn a_full_directory_is_listed_in_part() {
    let prison = Prison::new();
    fs::create_dir(prison.inside("full")).unwrap();
    for number in 0..20 {
        fs::write(prison.inside("full").join(number.to_string()), "").unwrap();
    }
    let listing = prison.jail.clone().max_entries(7).list("full").unwrap();
    assert_eq!((listing.entries.len(), listing.cut), (7, true));
    assert!(listing.entries.is_sorted());
    let listing = prison.jail.clone().max_entries(20).list("full").unwrap();
    assert_eq!((listing.entries.len(), listing.cut), (20, false));
}

#[test]
fn a_listing_is_sorted_and_says_what_is_what() {
    let prison = Prison::new();
    fs::create_dir(prison.inside("folder")).unwrap();
    symlink("note.txt", prison.inside("link")).unwrap();
    fs::write(prison.inside("two\nlines"), "").unwrap();
    fs::write(prison.inside("").join(OsStr::from_bytes(b"zo\xeb")), "").unwrap();
    let listing = prison.jail.list(".").unwrap();
    let lines: Vec<String> = listing.entries.iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        ["folder/", "link@", "note.txt", "two\\nlines", "zo\u{fffd}"]
    );
}
