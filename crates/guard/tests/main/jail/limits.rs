//! Limits on what is read and listed.

use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use toolwright_guard::JailError;

use super::Fixture;

#[test]
fn a_huge_file_is_truncated_at_a_mebibyte() {
    let fixture = Fixture::new();
    let mut huge = fs::File::create(fixture.inside("huge.txt")).unwrap();
    huge.write_all("x".repeat(1 << 20).as_bytes()).unwrap();
    // A sparse file, which needs no space on the disk.
    huge.set_len(1 << 40).unwrap();
    let read = fixture.jail.read("huge.txt").unwrap();
    assert_eq!((read.text.len(), read.truncated, read.size), (1 << 20, true, 1 << 40));
}

#[test]
fn a_file_as_long_as_the_limit_is_whole() {
    let fixture = Fixture::new();
    let read = fixture.jail.clone().max_bytes(6).read("note.txt").unwrap();
    assert_eq!((read.text.as_str(), read.truncated, read.size), ("a note", false, 6));
    let read = fixture.jail.clone().max_bytes(5).read("note.txt").unwrap();
    assert_eq!((read.text.as_str(), read.truncated, read.size), ("a not", true, 6));
}

#[test]
fn a_character_is_not_cut_in_two() {
    let fixture = Fixture::new();
    fs::write(fixture.inside("price"), "12 €").unwrap();
    let read = fixture.jail.clone().max_bytes(4).read("price").unwrap();
    assert_eq!((read.text.as_str(), read.truncated), ("12 ", true));
}

#[test]
fn binary_files_are_refused() {
    let fixture = Fixture::new();
    fs::write(fixture.inside("image"), b"\x89PNG\0\0").unwrap();
    let error = fixture.jail.read("image").unwrap_err();
    assert!(matches!(error, JailError::NotText { .. }), "{error:?}");
    let mut bytes = Vec::new();
    fixture.jail.open("image").unwrap().read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes, b"\x89PNG\0\0");
}

#[test]
fn a_large_directory_is_listed_in_part() {
    let fixture = Fixture::new();
    fs::create_dir(fixture.inside("full")).unwrap();
    for number in 0..20 {
        fs::write(fixture.inside("full").join(number.to_string()), "").unwrap();
    }
    let listing = fixture.jail.clone().max_entries(7).list("full").unwrap();
    assert_eq!((listing.entries.len(), listing.truncated), (7, true));
    assert!(listing.entries.is_sorted());
    let listing = fixture.jail.clone().max_entries(20).list("full").unwrap();
    assert_eq!((listing.entries.len(), listing.truncated), (20, false));
}

#[test]
fn a_listing_is_sorted_and_marks_directories_and_links() {
    let fixture = Fixture::new();
    fs::create_dir(fixture.inside("folder")).unwrap();
    symlink("note.txt", fixture.inside("link")).unwrap();
    fs::write(fixture.inside("two\nlines"), "").unwrap();
    fs::write(fixture.inside("").join(OsStr::from_bytes(b"zo\xeb")), "").unwrap();
    let listing = fixture.jail.list(".").unwrap();
    let lines: Vec<String> = listing.entries.iter().map(ToString::to_string).collect();
    assert_eq!(lines, ["folder/", "link@", "note.txt", "two\\nlines", "zo\u{fffd}"]);
}
