//! URLs that name no bus.

#[tokio::test]
async fn a_url_that_names_no_bus_is_an_error_that_lists_them() {
    for url in
        ["", "redis://hunter2@host", "u:hunter2@host", "nats:hunter2", "http://", "://hunter2"]
    {
        let error = toolwright_bus::open(url).await.err().unwrap();
        let text = format!("{error} {error:?}");
        assert!(text.contains("`nats://HOST`, `tls://HOST`"), "{url}: {text}");
        assert!(!text.contains("hunter2"), "{url}: {text}");
    }
}

#[tokio::test]
async fn a_malformed_url_of_nats_is_an_error_without_its_password() {
    for url in
        ["nats://u:hunter2@host:x", "tls://u:hunter2@", "nats://u:hunter2@host?ca=no-such.pem"]
    {
        let error = toolwright_bus::open(url).await.err().unwrap();
        let text = format!("{error} {error:?}");
        assert!(text.contains("write `nats://HOST") || text.contains("`no-such.pem`"), "{text}");
        assert!(!text.contains("hunter2"), "{url}: {text}");
    }
}

#[tokio::test]
async fn a_malformed_url_of_postgres_is_an_error_without_its_password() {
    for url in ["postgres://u:hunter2@host:x/db", "postgresql://u:hunter2@host/db?sslmode=perhaps"]
    {
        let error = toolwright_bus::open(url).await.err().unwrap();
        let text = format!("{error} {error:?}");
        assert!(text.contains("write `postgres://HOST/DATABASE`"), "{text}");
        assert!(!text.contains("hunter2"), "{url}: {text}");
    }
}
