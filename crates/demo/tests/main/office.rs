//! Tools as other software publishes them: whole schemas, camel case, terse descriptions.

use serde_json::{Value, json};
use toolwright_core::Tool;

use crate::driver::Talk;
use crate::questions::check;
use crate::table::Expected::{AsksBack, Calls, Cannot};
use crate::table::Row;

fn tool(name: &str, about: &str, properties: Value, required: &[&str]) -> Tool {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    let builder = Tool::builder(name, about).schema(schema).unwrap();
    builder.run(|_, _| "It is done.".to_owned()).unwrap()
}

fn text(about: &str) -> Value {
    json!({"type": "string", "description": about})
}

fn office() -> Talk {
    let currency = json!({"type": "string", "enum": ["EUR", "USD", "GBP"]});
    let day = json!({"type": "string", "format": "date", "description": "The day"});
    let whole = |about: &str| json!({"type": "integer", "description": about});
    Talk::new(vec![
        tool(
            "send_email",
            "Send an email to a recipient.",
            json!({
                "to": text("Email address of the recipient"),
                "subject": text("Subject line"),
                "body": text("The message")
            }),
            &["to", "subject", "body"],
        ),
        tool(
            "create_event",
            "Create a calendar event.",
            json!({"title": text("Title of the event"), "date": day, "time": text("Start time, e.g. `14:30`")}),
            &["title", "date"],
        ),
        tool(
            "translate_text",
            "Translate text into another language.",
            json!({
                "text": text("The text to translate"),
                "target_language": text("Language to translate to"),
                "source_language": text("Language of the text")
            }),
            &["text", "target_language"],
        ),
        tool(
            "search_flights",
            "Search for flights between two cities.",
            json!({
                "origin": text("City of departure"),
                "destination": text("City of arrival"),
                "date": day,
                "passengers": whole("Number of passengers")
            }),
            &["origin", "destination", "date"],
        ),
        tool(
            "convert_currency",
            "Convert an amount of money from one currency to another.",
            json!({
                "amount": {"type": "number", "description": "Amount to convert"},
                "from_currency": currency,
                "to_currency": currency
            }),
            &["amount", "from_currency", "to_currency"],
        ),
        tool(
            "set_reminder",
            "Set a reminder.",
            json!({"text": text("What to be reminded of"), "minutes": whole("In how many minutes")}),
            &["text", "minutes"],
        ),
        tool(
            "average",
            "Calculate the average of numbers.",
            json!({"numbers": {"type": "array", "items": {"type": "number"}}}),
            &["numbers"],
        ),
        tool(
            "read_file",
            "Reads a text file of the project.",
            json!({"path": text("The file's path, relative to the project directory.")}),
            &["path"],
        ),
        tool(
            "list_files",
            "Lists a directory of the project: one name per line.",
            json!({"path": {"type": "string", "default": ".", "description": "The directory's path."}}),
            &[],
        ),
        tool("delete_file", "Deletes a file.", json!({"path": text("The file's path")}), &["path"]),
        tool(
            "fetch_url",
            "Fetches a page of the public internet and returns its text.",
            json!({"url": text("The page's full address, beginning with `https://` or `http://`.")}),
            &["url"],
        ),
        tool("getUserById", "Fetch a user", json!({"userId": {"type": "integer"}}), &["userId"]),
    ])
}

const OFFICE: &[Row] = &[
    (
        "Send an email to bob@example.com with subject \"Lunch\" saying see you at noon",
        Calls(&[(
            "send_email",
            r#"{"to":"bob@example.com","subject":"Lunch","body":"see you at noon"}"#,
        )]),
    ),
    (
        "email anna@example.org subject: Hello body: how are you",
        Calls(&[(
            "send_email",
            r#"{"to":"anna@example.org","subject":"Hello","body":"how are you"}"#,
        )]),
    ),
    (
        "Create an event called Team meeting on 2026-05-04 at 14:30",
        Calls(&[(
            "create_event",
            r#"{"title":"Team meeting","date":"2026-05-04","time":"14:30"}"#,
        )]),
    ),
    (
        "schedule a calendar event \"Dentist\" on March 3, 2026",
        Calls(&[("create_event", r#"{"title":"Dentist","date":"2026-03-03"}"#)]),
    ),
    ("Create an event called Party tomorrow", AsksBack("Which date?")),
    (
        "Translate good morning to French",
        Calls(&[("translate_text", r#"{"text":"good morning","target_language":"French"}"#)]),
    ),
    (
        "translate 'where is the station' from English into German",
        Calls(&[(
            "translate_text",
            r#"{"text":"where is the station","target_language":"German","source_language":"English"}"#,
        )]),
    ),
    (
        "Find flights from Paris to New York on 2026-07-01 for 2 passengers",
        Calls(&[(
            "search_flights",
            r#"{"origin":"Paris","destination":"New York","date":"2026-07-01","passengers":2}"#,
        )]),
    ),
    ("flights from berlin to rome", AsksBack("Which date?")),
    (
        "how much is 50 USD in GBP?",
        Calls(&[(
            "convert_currency",
            r#"{"amount":50,"from_currency":"USD","to_currency":"GBP"}"#,
        )]),
    ),
    (
        "$20 in euros",
        Calls(&[(
            "convert_currency",
            r#"{"amount":20,"from_currency":"USD","to_currency":"EUR"}"#,
        )]),
    ),
    (
        "Remind me to call mom in 10 minutes",
        Calls(&[("set_reminder", r#"{"text":"call mom","minutes":10}"#)]),
    ),
    ("What is the average of 3, 5 and 10?", Calls(&[("average", r#"{"numbers":[3,5,10]}"#)])),
    ("show me the contents of src/lib.rs", Calls(&[("read_file", r#"{"path":"src/lib.rs"}"#)])),
    // Nobody says that anything is to be deleted.
    ("what's in the file Cargo.toml", Calls(&[("read_file", r#"{"path":"Cargo.toml"}"#)])),
    ("what files are there in docs?", Calls(&[("list_files", r#"{"path":"docs"}"#)])),
    ("delete notes.txt", Calls(&[("delete_file", r#"{"path":"notes.txt"}"#)])),
    (
        "Fetch https://example.com/a?b=c",
        Calls(&[("fetch_url", r#"{"url":"https://example.com/a?b=c"}"#)]),
    ),
    ("who is user 7?", Calls(&[("getUserById", r#"{"userId":7}"#)])),
    ("getUserById {\"userId\": 12}", Calls(&[("getUserById", r#"{"userId":12}"#)])),
    ("What's the meaning of life?", Cannot),
];

#[tokio::test]
async fn the_offices_questions_are_understood() {
    check(office, OFFICE).await;
}
