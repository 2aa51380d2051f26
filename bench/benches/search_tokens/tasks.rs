//! Twenty tasks for ten tools: what a person asks for, and the call that does it.

use serde_json::{Value, json};
use toolwright_bench::catalogue::ToolSample;

/// One thing that a person asks for.
pub(crate) struct Task {
    pub(crate) question: &'static str,
    /// The tool that does it, and the arguments of its call.
    pub(crate) tool: &'static str,
    pub(crate) arguments: Value,
}

/// Makes a task.
fn task(question: &'static str, tool: &'static str, arguments: Value) -> Task {
    Task { question, tool, arguments }
}

/// The tasks, two for each tool. The last four tools have near-duplicates in the catalogue.
pub(crate) fn tasks() -> Vec<Task> {
    vec![
        task("Will it rain in Oslo tomorrow?", "get_weather_forecast", json!({"city": "Oslo"})),
        task(
            "How warm will the weather be in Lisbon at the weekend?",
            "get_weather_forecast",
            json!({"city": "Lisbon", "days": 5}),
        ),
        task(
            "How much is 250 euros in Japanese yen?",
            "convert_currency",
            json!({"amount": 250, "from": "EUR", "to": "JPY"}),
        ),
        task(
            "Convert 40 pounds to Swiss francs",
            "convert_currency",
            json!({"amount": 40, "from": "GBP", "to": "CHF"}),
        ),
        task(
            "Translate 'good morning' into Portuguese",
            "translate_text",
            json!({"text": "good morning", "target": "pt"}),
        ),
        task(
            "What is 'thank you' in the Korean language?",
            "translate_text",
            json!({"text": "thank you", "target": "ko"}),
        ),
        task(
            "Find a flight from Hamburg to Porto on 3 May",
            "search_flights",
            json!({"origin": "HAM", "destination": "OPO", "date": "2027-05-03"}),
        ),
        task(
            "Which airlines fly from Vienna to Athens on Friday, and what do they cost?",
            "search_flights",
            json!({"origin": "VIE", "destination": "ATH", "date": "2027-05-07"}),
        ),
        task(
            "Make photo.png 800 pixels wide",
            "resize_image",
            json!({"path": "photo.png", "width": 800}),
        ),
        task(
            "The picture banner.jpg is too large: scale it to a height of 200",
            "resize_image",
            json!({"path": "banner.jpg", "height": 200}),
        ),
        task(
            "Set the bedroom to 19 degrees",
            "set_thermostat",
            json!({"room": "bedroom", "celsius": 19}),
        ),
        task(
            "It is cold in the living room, heat it to 22 degrees",
            "set_thermostat",
            json!({"room": "living room", "celsius": 22}),
        ),
        task(
            "Where is my parcel JD0146000? Track it, please",
            "track_parcel",
            json!({"number": "JD0146000"}),
        ),
        task(
            "When will the carrier deliver parcel 1Z999AA1?",
            "track_parcel",
            json!({"number": "1Z999AA1"}),
        ),
        task(
            "Open a helpdesk ticket: the printer on floor 2 is broken",
            "open_helpdesk_ticket",
            json!({"summary": "The printer on floor 2 is broken."}),
        ),
        task(
            "Report to the IT helpdesk that the VPN drops every hour",
            "open_helpdesk_ticket",
            json!({"summary": "The VPN drops every hour.", "priority": "high"}),
        ),
        task(
            "Invite Ada and Grace to a meeting on Monday at 10",
            "schedule_meeting",
            json!({"attendees": ["Ada", "Grace"], "start": "2027-05-03T10:00:00Z"}),
        ),
        task(
            "Schedule a meeting of half an hour with the design team",
            "schedule_meeting",
            json!({"attendees": ["design"], "start": "2027-05-04T09:00:00Z", "minutes": 30}),
        ),
        task(
            "Refund the card payment of order 1042",
            "refund_card_payment",
            json!({"order": "1042"}),
        ),
        task(
            "The customer paid twice by card: give back 20 euros of order 77",
            "refund_card_payment",
            json!({"order": "77", "amount": 20}),
        ),
    ]
}

/// The tools of the tasks.
pub(crate) fn task_tools() -> Vec<ToolSample> {
    let tool = |name: &str, description: &str, required: &[&str], properties: Value| ToolSample {
        name: name.to_owned(),
        description: description.to_owned(),
        input: json!({"type": "object", "properties": properties, "required": required}),
    };
    vec![
        tool(
            "get_weather_forecast",
            "Returns the weather forecast for a city: temperature, rain, wind and sunshine of each day.",
            &["city"],
            json!({
                "city": {"type": "string", "description": "The city, with the country if the name is ambiguous."},
                "days": {"type": "integer", "minimum": 1, "maximum": 10, "description": "For how many days."},
                "units": {"type": "string", "enum": ["metric", "imperial"], "description": "Degrees Celsius or Fahrenheit."},
            }),
        ),
        tool(
            "convert_currency",
            "Converts an amount of money from one currency to another, at today's exchange rate or that of a date.",
            &["amount", "from", "to"],
            json!({
                "amount": {"type": "number", "description": "The amount in the first currency."},
                "from": {"type": "string", "description": "The ISO code of the currency, as EUR for euros or GBP for pounds."},
                "to": {"type": "string", "description": "The ISO code of the other currency, as JPY for yen or CHF for francs."},
                "date": {"type": "string", "format": "date", "description": "The day of the rate."},
            }),
        ),
        tool(
            "translate_text",
            "Translates a text into another language.",
            &["text", "target"],
            json!({
                "text": {"type": "string", "description": "The text to translate."},
                "source": {"type": "string", "description": "The language of the text; detected if it is missing."},
                "target": {"type": "string", "description": "The language to translate into, as a two-letter code."},
                "formality": {"type": "string", "enum": ["formal", "informal"]},
            }),
        ),
        tool(
            "search_flights",
            "Searches flights between two airports, with airlines, times and prices.",
            &["origin", "destination", "date"],
            json!({
                "origin": {"type": "string", "description": "The airport of departure, by its IATA code."},
                "destination": {"type": "string", "description": "The airport of arrival, by its IATA code."},
                "date": {"type": "string", "format": "date", "description": "The day of departure."},
                "return_date": {"type": "string", "format": "date", "description": "The day of the flight back."},
                "passengers": {"type": "integer", "minimum": 1, "maximum": 9},
                "cabin": {"type": "string", "enum": ["economy", "premium", "business", "first"]},
            }),
        ),
        tool(
            "resize_image",
            "Resizes an image file: a picture, photo or logo in PNG, JPEG or WebP. Keeps the proportions unless both sides are given.",
            &["path"],
            json!({
                "path": {"type": "string", "description": "The image file."},
                "width": {"type": "integer", "minimum": 1, "description": "The new width in pixels."},
                "height": {"type": "integer", "minimum": 1, "description": "The new height in pixels."},
                "format": {"type": "string", "enum": ["png", "jpeg", "webp"], "description": "Converts the image, too."},
            }),
        ),
        tool(
            "set_thermostat",
            "Sets the temperature that a room of the house is heated or cooled to.",
            &["room", "celsius"],
            json!({
                "room": {"type": "string", "description": "The room, as bedroom or kitchen."},
                "celsius": {"type": "number", "minimum": 5, "maximum": 30, "description": "The temperature in degrees."},
                "until": {"type": "string", "format": "date-time", "description": "When the schedule takes over again."},
            }),
        ),
        tool(
            "track_parcel",
            "Tracks a parcel by its number: where it is now, and when the carrier delivers it.",
            &["number"],
            json!({
                "number": {"type": "string", "description": "The tracking number on the label."},
                "carrier": {"type": "string", "enum": ["dhl", "ups", "fedex", "gls", "post"]},
            }),
        ),
        tool(
            "open_helpdesk_ticket",
            "Opens a ticket at the helpdesk of the IT department, to report something that is broken or to request software.",
            &["summary"],
            json!({
                "summary": {"type": "string", "description": "What is wrong, in one sentence."},
                "details": {"type": "string", "description": "When it happens, and what was tried."},
                "priority": {"type": "string", "enum": ["low", "normal", "high"]},
                "device": {"type": "string", "description": "The inventory number of the computer, printer or phone."},
            }),
        ),
        tool(
            "schedule_meeting",
            "Schedules a meeting in the calendar, invites the attendees and reserves a room.",
            &["attendees", "start"],
            json!({
                "attendees": {"type": "array", "items": {"type": "string"}, "description": "People or teams, by name or address."},
                "start": {"type": "string", "format": "date-time"},
                "minutes": {"type": "integer", "minimum": 5, "description": "How long it takes; an hour unless set."},
                "subject": {"type": "string"},
                "room": {"type": "string", "description": "A room, or `online`."},
            }),
        ),
        tool(
            "refund_card_payment",
            "Refunds the card payment of an order, whole or in part.",
            &["order"],
            json!({
                "order": {"type": "string", "description": "The number of the order that was paid."},
                "amount": {"type": "number", "description": "The part to give back; the whole payment if it is missing."},
                "reason": {"type": "string", "enum": ["duplicate", "returned", "fraud", "goodwill"]},
            }),
        ),
    ]
}
