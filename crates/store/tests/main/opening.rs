//! Stores are opened by their URLs.

use toolwright_store::open;

async fn open_error(url: &str) -> String {
    open(url).await.err().expect("there is no such store").to_string()
}

#[tokio::test]
async fn an_unknown_store_is_an_error_that_lists_those_there_are() {
    for url in ["papyrus:roll", "", "memory", "memory:x", "mysql://me:secret@host/x", "x.db"] {
        if url == "memory" {
            // Accepted without its colon: it has no other meaning.
            assert!(open(url).await.is_ok());
            continue;
        }
        let error = open_error(url).await;
        for known in ["`memory:`", "`sqlite:FILE`", "`postgres://USER@HOST/DATABASE`"] {
            assert!(error.contains(known), "{url}: {error}");
        }
        assert!(!error.contains("secret"), "{error}");
    }
}

#[tokio::test]
async fn a_file_is_named_with_and_without_slashes() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a.db");
    for url in [format!("sqlite:{}", file.display()), format!("sqlite://{}", file.display())] {
        let store = open(&url).await.unwrap();
        assert_eq!(store.signing_keys().await.unwrap().len(), 1, "{url}");
    }
    assert!(file.is_file());
    assert!(open_error("sqlite:").await.contains("names no file"));
    assert!(open_error("sqlite::memory:").await.contains("`memory:`"));
}
