//! Three bundles of tools: the sample assistant's, a library's, a house's.

use assistant_tools::{
    Refunds, convert_temperature, get_city_time, get_current_time, get_weather, write_report,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolwright::{Bundle as _, BundleItem, Json, Tool, ToolError, tool};

use crate::driver::Talk;

/// The sample assistant's tools, the dangerous one included; nobody is there to approve it.
pub(crate) fn assistant() -> Talk {
    let mut items: Vec<BundleItem> = Refunds::default().into_items();
    for tool in [
        get_current_time::tool(),
        get_city_time::tool(),
        get_weather::tool(),
        convert_temperature::tool(),
        write_report::tool(),
    ] {
        items.push(tool.into());
    }
    Talk::new(items)
}

#[derive(Serialize, JsonSchema)]
struct Book {
    isbn: String,
    title: String,
    author: String,
}

fn dune() -> Book {
    Book {
        isbn: "978-0-441-17271-9".to_owned(),
        title: "Dune".to_owned(),
        author: "Frank Herbert".to_owned(),
    }
}

/// Searches the catalogue for books.
#[tool(read_only)]
fn search_books(
    /// What to look for: words of the title, or a subject.
    query: String,
    /// Only books by this author.
    author: Option<String>,
    /// How many to list at most.
    #[param(default = 10)]
    limit: u32,
) -> Json<Vec<Book>> {
    let _ = (query, author, limit);
    Json(vec![dune()])
}

/// Looks up one book by its ISBN.
#[tool(read_only)]
fn book_by_isbn(
    /// The ISBN, for example `978-0-261-10334-4`.
    isbn: String,
) -> Result<Json<Book>, ToolError> {
    if isbn != dune().isbn {
        return Err(ToolError::failed(format!("no book has the ISBN {isbn}")));
    }
    Ok(Json(dune()))
}

/// Reserves a book for a member of the library.
#[tool]
fn reserve_book(
    /// The book's title.
    title: String,
    /// The member's name.
    member: String,
    /// The day to keep it until, as YYYY-MM-DD.
    until: Option<String>,
) -> String {
    let until = until.unwrap_or_else(|| "further notice".to_owned());
    format!("Reserved {title} for {member} until {until}.")
}

/// Lists the loans of a member: what is borrowed, and until when.
#[tool(read_only)]
fn list_loans(
    /// The number on the member's card, for example `M-204`.
    card: String,
    /// Whether to list books that are overdue only.
    #[param(default = false)]
    overdue: bool,
) -> String {
    format!("{card} has nothing on loan ({overdue}).")
}

/// A library's tools.
pub(crate) fn library() -> Talk {
    Talk::new(vec![
        search_books::tool(),
        book_by_isbn::tool(),
        reserve_book::tool(),
        list_loans::tool(),
    ])
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Room {
    Kitchen,
    #[serde(rename = "living_room")]
    Living,
    Bedroom,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Priority {
    Low,
    Normal,
    High,
}

/// Sets the thermostat of a room.
#[tool(idempotent)]
fn set_thermostat(
    /// The room.
    room: Room,
    /// The temperature to keep, in degrees Celsius.
    celsius: f64,
) -> String {
    format!("{room:?} is set to {celsius} °C.")
}

/// Says where an order is.
#[tool(read_only)]
fn order_status(
    /// The order's number.
    order_id: u64,
) -> String {
    format!("Order {order_id} is on its way.")
}

/// Opens a support ticket.
#[tool]
fn create_ticket(
    /// What is wrong, in a few words.
    title: String,
    /// How much it hurries.
    #[param(default = "normal")]
    priority: Priority,
) -> String {
    format!("Created ticket T-17: {title} ({priority:?}).")
}

/// Turns the light of a room on or off.
#[tool(idempotent)]
fn switch_light(
    /// The room.
    room: Room,
    /// Whether it is to shine.
    on: bool,
) -> String {
    format!("The light in {room:?} is {}.", if on { "on" } else { "off" })
}

/// Closes a ticket.
#[tool]
fn close_ticket(
    /// The ticket's number, for example `T-1`.
    ticket_id: String,
) -> String {
    format!("Closed ticket {ticket_id}.")
}

/// A house's and a shop's tools; some by hand.
pub(crate) fn house() -> Talk {
    let area = Tool::builder("calculate_area", "Calculates the area of a rectangle.")
        .param::<f64>("width", "How wide it is, in metres.")
        .param::<f64>("height", "How high it is, in metres.")
        .read_only(true)
        .run(|args, _| Ok::<_, ToolError>(args.get::<f64>("width")? * args.get::<f64>("height")?))
        .unwrap();
    let shopping = Tool::builder("add_to_shopping_list", "Adds things to the shopping list.")
        .schema(json!({
            "type": "object",
            "properties": {
                "items": {"type": "array", "items": {"type": "string"}, "description": "What to buy."}
            },
            "required": ["items"]
        }))
        .unwrap()
        .run(|_, _| "Added.".to_owned())
        .unwrap();
    let deliver = Tool::builder("deliver_parcel", "Sends a parcel to an address.")
        .schema(json!({
            "type": "object",
            "properties": {
                "address": {
                    "type": "object",
                    "properties": {
                        "city": {"type": "string", "description": "The city."},
                        "zip": {"type": "string", "pattern": "^[0-9]{5}$", "description": "The postcode."}
                    },
                    "required": ["city", "zip"]
                },
                "kilos": {"type": "number", "description": "How heavy it is, in kilograms."}
            },
            "required": ["address"]
        }))
        .unwrap()
        .run(|_, _| "Sent.".to_owned())
        .unwrap();
    Talk::new(vec![
        set_thermostat::tool(),
        order_status::tool(),
        create_ticket::tool(),
        close_ticket::tool(),
        switch_light::tool(),
        area,
        shopping,
        deliver,
    ])
}
