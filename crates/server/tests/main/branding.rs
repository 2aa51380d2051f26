//! The branding of the console, and its page below a prefix.

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use serde_json::json;
use toolwright::testing::FnModel;
use toolwright::{Config, ConfigSources};
use toolwright_server::{Branding, Mount, ServerBuilder};
use tower::ServiceExt as _;

use crate::support::{no_tools, serve};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

fn server(branding: Branding) -> ServerBuilder {
    ServerBuilder::new(no_tools(), FnModel::echo())
        .name("hello-tools", "1.0.0")
        .branding(branding)
        .mount(Mount::console())
}

/// The settings of a `toolwright.toml` in `folder`.
fn config(folder: &std::path::Path, text: &str) -> Config {
    std::fs::write(folder.join("toolwright.toml"), text).unwrap();
    Config::load(ConfigSources::new().directory(folder)).unwrap().config
}

#[tokio::test]
async fn without_branding_the_console_has_the_name_of_the_server() {
    let server = serve(server(Branding::new())).await;
    let page = server.get("/").await;
    assert!(page.text().contains("<title>Hello tools</title>"), "{}", page.text());
    assert_eq!(server.get("/logo").await.header("content-type"), "image/svg+xml");
    assert!(!server.get("/css/accent.css").await.text().contains("--accent"));
    let console = server.get("/api/info").await.json()["console"].clone();
    let greeting = "This is Hello tools. What can I do for you?";
    let expected =
        json!({ "title": "Hello tools", "greeting": greeting, "suggestions": null, "links": [] });
    assert_eq!(console, expected);
}

#[tokio::test]
async fn settings_replace_the_branding_of_the_code() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("logo.png"), PNG).unwrap();
    let config = config(
        folder.path(),
        r##"[console]
            title = "Shop & <Café>"
            logo = "logo.png"
            accent = "#c2410c"
            suggestions = []
            links = [{ label = "Help", url = "help/index.html" }]"##,
    );
    let branding = Branding::new()
        .title("Other")
        .greeting("Hello.")
        .suggestions(["Other"])
        .link("Other", "/other")
        .with_config(&config)
        .unwrap();
    let server = serve(server(branding)).await;
    let page = server.get("/").await;
    assert!(page.text().contains("<title>Shop &amp; &lt;Café></title>"), "{}", page.text());
    let logo = server.get("/logo").await;
    assert_eq!(logo.header("content-type"), "image/png");
    assert!(logo.header("content-security-policy").contains("sandbox"));
    assert!(server.get("/css/accent.css").await.text().contains("#c2410c"));
    let console = server.get("/api/info").await.json()["console"].clone();
    let links = json!([{ "label": "Help", "url": "help/index.html" }]);
    let expected = json!({ "title": "Shop & <Café>", "greeting": "Hello.", "suggestions": [], "links": links });
    assert_eq!(console, expected);
}

#[test]
fn invalid_branding_is_an_error_that_names_it() {
    let new = Branding::new;
    let large = [PNG, &[0; 256 << 10]].concat();
    for (branding, setting) in [
        (new().accent("red"), "accent"),
        (new().accent("#12345"), "accent"),
        (new().accent("#fff; } * { display: none"), "accent"),
        (new().logo(&b"<html><svg>"[..]), "logo"),
        (new().logo(large), "logo"),
        (new().logo_file("no/such/file.png"), "logo"),
        (new().link("Help", "javascript:alert(1)"), "link"),
        (new().link("Help", "java\tscript:alert(1)"), "link"),
        (new().link("Help", "data:text/html,x"), "link"),
        (new().link("Help", "//other.example"), "link"),
        (new().link("Help", "\\\\other.example"), "link"),
        (new().link(" ", "/help"), "link"),
    ] {
        let shown = format!("{branding:.60?}");
        let error = server(branding).build().err().expect(&shown).to_string();
        assert!(error.starts_with(&format!("the {setting} of the console: ")), "{error}");
    }
}

/// The page at a path of an app that nests the server.
async fn page(app: &Router, path: &str) -> String {
    let request = Request::builder().uri(path).header("host", "localhost");
    let request = request
        .extension(axum::extract::ConnectInfo(std::net::SocketAddr::from(([127, 0, 0, 1], 4000))));
    let response = app.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
    String::from_utf8(body.to_vec()).unwrap()
}

#[tokio::test]
async fn a_page_without_a_slash_at_its_end_refers_to_files_below_it() {
    let router = server(Branding::new()).build().unwrap().router();
    let app = Router::new().nest("/shop/ai", router.clone()).nest_service("/shop/x", router);
    for (path, main) in [
        ("/shop/ai", r#" src="./ai/js/main.js""#),
        ("/shop/ai/index.html", r#" src="./js/main.js""#),
        ("/shop/x", r#" src="./x/js/main.js""#),
        ("/shop/x/", r#" src="./js/main.js""#),
    ] {
        let page = page(&app, path).await;
        assert!(page.contains(main), "{path}: {page}");
    }
}

#[tokio::test]
async fn a_prefix_is_text() {
    let router = server(Branding::new()).build().unwrap().router();
    let app = Router::new().nest_service("/{tenant}", router);
    for path in [r#"/"onload="x"#, "/javascript:x"] {
        let page = page(&app, path).await;
        let src = format!(r#" src="./{}/js/main.js""#, path[1..].replace('"', "&quot;"));
        assert!(page.contains(&src), "{page}");
    }
}
