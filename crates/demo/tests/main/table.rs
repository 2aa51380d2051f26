//! Questions, and what the model makes of each: calls, a question back, or that it cannot.

/// What is expected of a question.
pub(crate) enum Expected {
    /// These calls, in this order, as JSON text.
    Calls(&'static [(&'static str, &'static str)]),
    /// A question that has this in it.
    AsksBack(&'static str),
    /// That it cannot.
    Cannot,
}

use Expected::{AsksBack, Calls, Cannot};

pub(crate) type Row = (&'static str, Expected);

pub(crate) const ASSISTANT: &[Row] = &[
    ("What time is it?", Calls(&[("get_current_time", "{}")])),
    ("what's the date today", Calls(&[("get_current_time", "{}")])),
    ("What time is it in Tokyo?", Calls(&[("get_city_time", r#"{"city":"Tokyo"}"#)])),
    ("time in new york please", Calls(&[("get_city_time", r#"{"city":"new york"}"#)])),
    (
        "Could you tell me how late it is in Los Angeles, what does the clock say?",
        Calls(&[("get_city_time", r#"{"city":"Los Angeles"}"#)]),
    ),
    ("How is the weather in Paris today?", Calls(&[("get_weather", r#"{"city":"Paris"}"#)])),
    ("weather london", Calls(&[("get_weather", r#"{"city":"london"}"#)])),
    (
        "What's the wether in Rio de Janeiro?",
        Calls(&[("get_weather", r#"{"city":"Rio de Janeiro"}"#)]),
    ),
    ("Tokyo's weather?", Calls(&[("get_weather", r#"{"city":"Tokyo"}"#)])),
    ("do i need an umbrella in london", Calls(&[("get_weather", r#"{"city":"london"}"#)])),
    ("how warm is it in Oslo right now?", Calls(&[("get_weather", r#"{"city":"Oslo"}"#)])),
    ("What is the weather?", AsksBack("Which city?")),
    (
        "Convert 98.6 F to Celsius",
        Calls(&[("convert_temperature", r#"{"value":98.6,"from_unit":"F"}"#)]),
    ),
    (
        "convert -40 celsius to fahrenheit",
        Calls(&[("convert_temperature", r#"{"value":-40,"from_unit":"C"}"#)]),
    ),
    ("What is 100C in F?", Calls(&[("convert_temperature", r#"{"value":100,"from_unit":"C"}"#)])),
    (
        "How much is thirty degrees Celsius in Fahrenheit?",
        Calls(&[("convert_temperature", r#"{"value":30,"from_unit":"C"}"#)]),
    ),
    (
        "convert 30 to fahrenheit",
        Calls(&[("convert_temperature", r#"{"value":30,"from_unit":"C"}"#)]),
    ),
    ("Convert 30 degrees", AsksBack("Which from unit: C or F?")),
    (
        "Refund order A-1042, 20 euros",
        Calls(&[("issue_refund", r#"{"order":"A-1042","amount":20}"#)]),
    ),
    (
        "please refund 15.50 EUR for order A-7 because it was broken",
        Calls(&[("issue_refund", r#"{"order":"A-7","amount":15.5,"reason":"it was broken"}"#)]),
    ),
    ("Issue a refund for order 1234", AsksBack("What amount?")),
    ("Write a report on solar power", Calls(&[("write_report", r#"{"topic":"solar power"}"#)])),
    (
        "I need a report about bees and wasps with a pace of 10 ms",
        Calls(&[("write_report", r#"{"topic":"bees and wasps","pace_ms":10}"#)]),
    ),
    (
        "time in Tokyo and the weather in London",
        Calls(&[("get_city_time", r#"{"city":"Tokyo"}"#), ("get_weather", r#"{"city":"London"}"#)]),
    ),
    (
        "What's the time and the weather in Sydney?",
        Calls(&[
            ("get_city_time", r#"{"city":"Sydney"}"#),
            ("get_weather", r#"{"city":"Sydney"}"#),
        ]),
    ),
    (
        "Compare the weather in Paris and London",
        Calls(&[("get_weather", r#"{"city":"Paris"}"#), ("get_weather", r#"{"city":"London"}"#)]),
    ),
    (
        "Is it warmer in Tokyo or in London?",
        Calls(&[("get_weather", r#"{"city":"Tokyo"}"#), ("get_weather", r#"{"city":"London"}"#)]),
    ),
    ("use get_weather for Berlin", Calls(&[("get_weather", r#"{"city":"Berlin"}"#)])),
    (
        "What is the weather in London? Convert the temperature to Fahrenheit.",
        Calls(&[
            ("get_weather", r#"{"city":"London"}"#),
            ("convert_temperature", r#"{"value":15,"from_unit":"C"}"#),
        ]),
    ),
    (
        "First get the weather in Oslo, then the time there",
        Calls(&[("get_weather", r#"{"city":"Oslo"}"#), ("get_city_time", r#"{"city":"Oslo"}"#)]),
    ),
    ("Which city is the largest?", Cannot),
    ("What is the capital of France?", Cannot),
    ("Write a poem about bees", Cannot),
    ("Who is the current president of the United States?", Cannot),
    ("Tell me a joke about Tokyo", Cannot),
    ("Can you convert my file to PDF?", Cannot),
];

pub(crate) const LIBRARY: &[Row] = &[
    ("Search for books about dragons", Calls(&[("search_books", r#"{"query":"dragons"}"#)])),
    (
        "find books on space travel by Ursula Le Guin",
        Calls(&[("search_books", r#"{"query":"space travel","author":"Ursula Le Guin"}"#)]),
    ),
    (
        "do you have books about the french revolution? list at most 3, limit 3",
        Calls(&[("search_books", r#"{"query":"the french revolution","limit":3}"#)]),
    ),
    (
        "Look up ISBN 978-0-441-17271-9",
        Calls(&[("book_by_isbn", r#"{"isbn":"978-0-441-17271-9"}"#)]),
    ),
    (
        "Which book is 978-0-441-17271-9?",
        Calls(&[("book_by_isbn", r#"{"isbn":"978-0-441-17271-9"}"#)]),
    ),
    (
        "Reserve \"War and Peace\" for Anna",
        Calls(&[("reserve_book", r#"{"title":"War and Peace","member":"Anna"}"#)]),
    ),
    (
        "reserve The Lord of the Rings for Ben Smith until 2026-03-01",
        Calls(&[(
            "reserve_book",
            r#"{"title":"The Lord of the Rings","member":"Ben Smith","until":"2026-03-01"}"#,
        )]),
    ),
    (
        "I'd like to make a reservation of Dune for Carla",
        Calls(&[("reserve_book", r#"{"title":"Dune","member":"Carla"}"#)]),
    ),
    ("Reserve a book", AsksBack("Which title?")),
    ("List the loans of card M-204", Calls(&[("list_loans", r#"{"card":"M-204"}"#)])),
    (
        "Which overdue books has M-7 borrowed?",
        Calls(&[("list_loans", r#"{"card":"M-7","overdue":true}"#)]),
    ),
    ("What's the weather in Paris?", Cannot),
];

pub(crate) const HOUSE: &[Row] = &[
    (
        "Set the kitchen to 21 degrees",
        Calls(&[("set_thermostat", r#"{"room":"kitchen","celsius":21}"#)]),
    ),
    (
        "make the living room warmer, 22.5 °C",
        Calls(&[("set_thermostat", r#"{"room":"living_room","celsius":22.5}"#)]),
    ),
    (
        "thermostat kitchen 19 and bedroom 17",
        Calls(&[
            ("set_thermostat", r#"{"room":"kitchen","celsius":19}"#),
            ("set_thermostat", r#"{"room":"bedroom","celsius":17}"#),
        ]),
    ),
    ("Set the thermostat to 20 degrees", AsksBack("Which room: kitchen, living_room or bedroom?")),
    ("Where is my order 4711?", Calls(&[("order_status", r#"{"order_id":4711}"#)])),
    ("status of order #42 please", Calls(&[("order_status", r#"{"order_id":42}"#)])),
    (
        "What is the status of orders 12 and 15?",
        Calls(&[("order_status", r#"{"order_id":12}"#), ("order_status", r#"{"order_id":15}"#)]),
    ),
    (
        "Create a ticket: the printer is on fire, priority high",
        Calls(&[("create_ticket", r#"{"title":"the printer is on fire","priority":"high"}"#)]),
    ),
    (
        "open a low priority ticket titled Squeaky door",
        Calls(&[("create_ticket", r#"{"title":"Squeaky door","priority":"low"}"#)]),
    ),
    (
        "What is the area of a room with a width of 3 m and a height of 4.5 m?",
        Calls(&[("calculate_area", r#"{"width":3,"height":4.5}"#)]),
    ),
    ("area of 3 x 4", Calls(&[("calculate_area", r#"{"width":3,"height":4}"#)])),
    (
        "calculate the area, height 2, width 5",
        Calls(&[("calculate_area", r#"{"width":5,"height":2}"#)]),
    ),
    ("calculate an area", AsksBack("What width?")),
    (
        "add milk, eggs and brown bread to the shopping list",
        Calls(&[("add_to_shopping_list", r#"{"items":["milk","eggs","brown bread"]}"#)]),
    ),
    (
        "Turn off the light in the bedroom",
        Calls(&[("switch_light", r#"{"room":"bedroom","on":false}"#)]),
    ),
    ("switch the kitchen lamp on", Calls(&[("switch_light", r#"{"room":"kitchen","on":true}"#)])),
    (
        "Send a parcel to 10115 Berlin, 2 kg",
        Calls(&[("deliver_parcel", r#"{"address":{"city":"Berlin","zip":"10115"},"kilos":2}"#)]),
    ),
    ("close ticket T-9", Calls(&[("close_ticket", r#"{"ticket_id":"T-9"}"#)])),
    ("What should I cook tonight?", Cannot),
];
