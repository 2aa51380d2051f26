//! Ranking of tools against questions.

use serde_json::json;
use toolwright_core::{Registry, Tool};
use toolwright_search::{CatalogCache, Term, ToolDocument, ToolIndex, stem};

fn tool(name: &str, description: &str) -> Tool {
    let schema = json!({"type": "object", "properties": {
        "room": {"enum": ["kitchen", "bedroom"], "description": "The room, for example `attic`."}
    }});
    let builder = Tool::builder(name, description).schema(schema).unwrap();
    builder.run(|_, _| "done").unwrap()
}

fn index() -> ToolIndex {
    let tools = [
        tool("set_thermostat", "Sets the temperature of a room, in Celsius."),
        tool("switch_light", "Turns the light of a room on or off."),
        tool("create_ticket", "Opens a support ticket."),
    ];
    ToolIndex::new(tools.iter().map(Tool::spec))
}

fn names(index: &ToolIndex, question: &str) -> Vec<String> {
    let found = index.search(question, 5);
    found.iter().map(|found| found.name.to_string()).collect()
}

fn best(question: &str) -> Option<String> {
    names(&index(), question).into_iter().next()
}

#[test]
fn names_descriptions_synonyms_and_misspellings_are_found() {
    for (question, tool) in [
        ("the thermostat please", "set_thermostat"),
        ("make it warmer", "set_thermostat"),
        ("turn on the lamp", "switch_light"),
        ("report a problem to support", "create_ticket"),
        ("a new tikcet", "create_ticket"),
        ("22 C", "set_thermostat"),
    ] {
        assert_eq!(best(question).as_deref(), Some(tool), "{question}");
    }
}

#[test]
fn a_question_without_a_word_of_the_tool_finds_it_by_a_synonym() {
    let tools = [
        tool("get_time", "Returns the current time."),
        tool("get_weather", "Returns the weather in a city."),
    ];
    let index = ToolIndex::new(tools.iter().map(Tool::spec));
    assert_eq!(names(&index, "Do I need an umbrella?"), ["get_weather"]);
}

#[test]
fn a_question_about_something_else_matches_nothing() {
    assert_eq!(best("who painted the attic?"), None);
    assert_eq!(best(""), None);
}

#[test]
fn tools_of_equal_score_are_ordered_by_name() {
    let mut tools: Vec<Tool> = (10..60).map(|n| tool(&format!("same_{n}"), "A thing.")).collect();
    tools.reverse();
    let index = ToolIndex::new(tools.iter().map(Tool::spec));
    let found = index.search("the same in the kitchen", 50);
    assert!(found.is_sorted_by(|a, b| a.name < b.name) && found.len() == 50);
}

#[test]
fn a_match_reports_its_words_and_those_of_the_action() {
    let terms = ["light", "kitchen"].into_iter().enumerate();
    let terms: Vec<Term> =
        terms.map(|(token, word)| Term { stem: stem(word), token, fuzzy: true }).collect();
    let found = index().score(&terms, 1);
    assert_eq!((found.tokens, found.action_tokens), (vec![0, 1], vec![0]));
}

#[test]
fn a_tool_can_be_added_later() {
    let mut index = index();
    assert!(index.search("pay it back", 5).is_empty());
    index.insert(tool("issue_refund", "Pays an order back.").spec());
    assert_eq!(names(&index, "pay it back"), ["issue_refund"]);
    assert_eq!(names(&index, "Issue_Refund!")[0], "issue_refund");
}

#[test]
fn a_tool_with_the_name_of_another_replaces_it() {
    let mut index = index();
    let position = index.insert(tool("create_ticket", "Books a seat in a train.").spec());
    assert_eq!((position, index.len()), (2, 3));
    assert_eq!(names(&index, "a seat in the train"), ["create_ticket"]);
    assert!(index.search("support", 5).is_empty());
}

#[test]
fn a_removed_tool_is_found_no_more() {
    let mut index = index();
    assert!(index.remove("create_ticket") && !index.remove("create_ticket"));
    assert!(index.search("a support ticket", 5).is_empty() && !index.contains("create_ticket"));
    assert_eq!(index.insert(tool("lock_door", "Locks the door.").spec()), 2);
    assert_eq!(names(&index, "the door"), ["lock_door"]);
}

#[test]
fn tools_are_found_in_the_language_they_are_described_in() {
    let tools = [
        tool("wetter_abrufen", "Liefert das Wetter für eine Stadt."),
        tool("crear_factura", "Crea una factura para un cliente."),
        tool("meteo", "Donne la météo d'une ville, avec les prévisions."),
        tool("weather_zh", "查询城市的天气预报"),
        tool("train_ja", "電車の時刻表を調べます"),
        tool("pogoda", "Показывает прогноз погоды в городе"),
        tool("nalssi", "도시의 날씨를 알려줍니다"),
        tool("mausam", "शहर का मौसम बताता है"),
        tool("taqs", "يعرض حالة الطقس في المدينة"),
        tool("akat", "แสดงสภาพอากาศของเมือง"),
    ];
    let index = ToolIndex::new(tools.iter().map(Tool::spec));
    for (question, expected) in [
        ("Wie ist das Wetter in Köln?", "wetter_abrufen"),
        ("Necesito facturas para mis clientes", "crear_factura"),
        ("les previsions de la meteo", "meteo"),
        ("北京今天天气怎么样？", "weather_zh"),
        ("次の電車は何時ですか", "train_ja"),
        ("Какая погода в Москве?", "pogoda"),
        ("서울 날씨 어때?", "nalssi"),
        ("दिल्ली में मौसम कैसा है", "mausam"),
        ("ما هو الطقس اليوم", "taqs"),
        ("อากาศวันนี้เป็นอย่างไร", "akat"),
        ("какой прогонз", "pogoda"),
    ] {
        assert_eq!(
            names(&index, question).first().map(String::as_str),
            Some(expected),
            "{question}"
        );
    }
}

#[test]
fn a_single_ideograph_finds_the_words_that_begin_with_it() {
    let tools = [tool("rain", "降雨量と雨雲の予報"), tool("music", "音楽を再生します")];
    let index = ToolIndex::new(tools.iter().map(Tool::spec));
    assert_eq!(names(&index, "雨"), ["rain"]);
}

#[test]
fn a_question_for_several_things_gets_a_tool_for_each() {
    let mut tools: Vec<Tool> = (0..8)
        .map(|n| tool(&format!("weather_forecast_{n}"), "Returns the weather forecast of a city."))
        .collect();
    tools.push(tool("book_hotel", "Books a room in a hotel."));
    let index = ToolIndex::new(tools.iter().map(Tool::spec));
    let found = names(&index, "The weather forecast for Rome, and book a hotel there");
    assert!(found.iter().any(|name| name == "book_hotel"), "{found:?}");
    assert!(found.iter().any(|name| name.starts_with("weather")), "{found:?}");
}

#[test]
fn scores_decrease_and_the_limit_is_kept() {
    let tools: Vec<Tool> = (0..200)
        .map(|n| tool(&format!("tool_{n}"), &format!("Does {}", "things ".repeat(n % 7 + 1))))
        .collect();
    let index = ToolIndex::new(tools.iter().map(Tool::spec));
    let found = index.search("tool for things", 150);
    assert_eq!(found.len(), 150);
    assert!(found.is_sorted_by(|a, b| a.score >= b.score));
    assert!(index.search("tool for things", 0).is_empty());
}

#[test]
fn an_index_that_was_changed_equals_one_that_was_built_so() {
    let all: Vec<Tool> = (0..60)
        .map(|n| tool(&format!("tool_{n}"), &format!("Counts {} birds of kind {n}.", n % 5)))
        .collect();
    let mut changed = ToolIndex::new(all.iter().map(Tool::spec));
    for tool in all.iter().step_by(3) {
        changed.remove(tool.name().as_str());
        changed.insert(all[7].spec());
    }
    let left = all.iter().enumerate().filter(|(n, _)| n % 3 != 0).map(|(_, tool)| tool.spec());
    let built = ToolIndex::new(left);
    for question in ["birds", "count the kind 7", "tool_11", "brids of a kind"] {
        assert_eq!(changed.search(question, 50), built.search(question, 50), "{question}");
    }
    assert_eq!((changed.len(), changed.text_len()), (built.len(), built.text_len()));
}

#[test]
fn tags_questions_and_the_bundle_are_searched() {
    let schema = json!({"type": "object"});
    let plain = ToolDocument::new("run_report", "Runs a report.", &schema);
    let index = ToolIndex::new([
        plain.tags(&["finance", "ledger"]),
        ToolDocument::new("send", "Sends it.", &schema).questions(&["Who owes us money?"]),
    ]);
    assert_eq!(names(&index, "something from the ledger"), ["run_report"]);
    assert_eq!(names(&index, "who owes money"), ["send"]);
}

#[test]
fn tags_and_questions_of_a_spec_are_searched() {
    let report = Tool::builder("run_report", "Runs a report.").tag("finance").tag("ledger");
    let send = Tool::builder("send", "Sends it.").question("Who owes us money?");
    let tools = [report.run(|_, _| "done").unwrap(), send.run(|_, _| "done").unwrap()];
    let index = ToolIndex::new(tools.iter().map(Tool::spec));
    assert_eq!(names(&index, "something from the ledger"), ["run_report"]);
    assert_eq!(names(&index, "who owes money"), ["send"]);
}

#[test]
fn a_catalogue_is_indexed_again_if_only_a_tag_changes() {
    let catalogs = CatalogCache::default();
    for tag in ["finance", "ledger"] {
        let tool = Tool::builder("run_report", "Runs a report.").tag(tag).run(|_, _| "done");
        let registry = Registry::of(tool.unwrap()).unwrap();
        let tools = registry.snapshot().iter().cloned().collect();
        assert_eq!(catalogs.catalog(&tools).search(tag, 5).len(), 1, "{tag}");
    }
}

#[test]
fn nested_parameters_and_their_values_are_searched() {
    let schema = json!({"type": "object", "properties": {"order": {"type": "object", "properties": {
        "shipping": {"description": "The carrier.", "enum": ["pigeon", "train"]}
    }}}});
    let index = ToolIndex::new([ToolDocument::new("place", "Places it.", &schema)]);
    for question in ["by pigeon", "the shipping", "which carrier"] {
        assert_eq!(names(&index, question), ["place"], "{question}");
    }
}

#[test]
fn hostile_specs_and_questions_are_bounded() {
    let long = "x".repeat(20_000);
    let many: String = (0..3_000).map(|n| format!("word{n} ")).collect();
    let mut properties = serde_json::Map::new();
    for n in 0..300 {
        properties.insert(format!("p{n}"), json!({"description": many, "enum": [long]}));
    }
    properties.insert("self".to_owned(), json!({"$ref": "#"}));
    let schema = json!({"type": "object", "properties": properties});
    let mut index = ToolIndex::default();
    index.insert(ToolDocument::new(&long, &many, &schema));
    index.insert(ToolDocument::new("plain", "Plain.", &schema));
    assert!(index.text_len() < 1 << 18, "{}", index.text_len());
    let question = format!("{many} {long} \u{202e}\u{0} plain");
    assert!(!index.search(&question, 5).is_empty());
    assert_eq!(names(&index, "plain"), ["plain"]);
}
