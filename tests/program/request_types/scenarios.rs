//! One request per scenario, each with many variants of one feature.

use serde_json::{Map, Value, json};
use toolwright::chat::{
    HostedTool, Message, Model, ModelOptions, ModelRequest, ResponseFormat, Step, ToolChoice,
};
use toolwright::schema::Schema;
use toolwright::{Config, ConfigSources};

use super::recorded_steps::{answered, user};
use super::{history, tools};

/// The scenarios that make sense for a vendor, each with its name.
pub(crate) fn all(
    vendor: &str,
    model: &dyn Model,
    past: &[(&str, Step)],
) -> Vec<(String, ModelRequest)> {
    let mut hello = request_with_messages(vec![user("Hello!")]);
    hello.system = None;
    let plain = [
        ("hello", hello),
        ("contents", request_with_messages(history::contents())),
        ("results", request_with_messages(history::results())),
        ("ids", request_with_messages(history::ids())),
        ("arguments", request_with_messages(history::arguments())),
        ("gone", request_with_messages(history::missing_tool_messages())),
        ("edges", request_with_messages(history::edges())),
        ("tools", request_with_tools(vec![user("Hello!")])),
        ("turns", request_with_tools(history::results())),
    ];
    let plain = plain.map(|(name, request)| (name.to_owned(), request));
    let mut all = Vec::from(plain);
    all.extend(replayed(vendor, past));
    all.extend(native_searches(model, past));
    all.extend(choices(vendor, model));
    all.extend(hosted(model));
    all.extend(response_formats());
    all.extend(options(vendor));
    all
}

fn request_with_messages(messages: Vec<Message>) -> ModelRequest {
    let mut request = ModelRequest::default();
    request.system = Some("Be brief.".to_owned());
    request.messages = messages;
    request
}

fn request_with_tools(messages: Vec<Message>) -> ModelRequest {
    let mut request = request_with_messages(messages);
    request.tools = tools::all();
    request
}

/// Steps of this vendor, and of all of them in one conversation.
fn replayed(vendor: &str, past: &[(&str, Step)]) -> Vec<(String, ModelRequest)> {
    let mut scenarios = Vec::new();
    let mut moved = Vec::new();
    for (answer, step) in past {
        let turn = [user("Go.")].into_iter().chain(answered(step.clone()));
        moved.extend(turn.clone());
        if step.model.vendor == vendor {
            scenarios
                .push((format!("replayed-{answer}"), request_with_tools(turn.clone().collect())));
            // The tools may have been removed since.
            let mut later: Vec<Message> = turn.collect();
            later.push(user("Thank you."));
            scenarios
                .push((format!("replayed-{answer}-without-tools"), request_with_messages(later)));
            // A step may be the last entry before a crash.
            let cut = vec![user("Go."), Message::Step(step.clone().into()), user("Still there?")];
            scenarios.push((format!("replayed-{answer}-without-results"), request_with_tools(cut)));
        }
    }
    // No results at the end: a step without its reasoning cannot be continued.
    let mut thoughtful = request_with_tools(moved.clone());
    thoughtful.options.effort = Some("high".to_owned());
    scenarios.push(("moved-thinking".to_owned(), thoughtful));
    moved.push(user("Thank you."));
    scenarios.push(("moved".to_owned(), request_with_tools(moved)));
    scenarios
}

/// Searches for tools, where the vendor loads what they find; and elsewhere, where they are ordinary calls.
fn native_searches(model: &dyn Model, past: &[(&str, Step)]) -> Vec<(String, ModelRequest)> {
    let moved =
        past.iter().flat_map(|(_, step)| [user("Go.")].into_iter().chain(answered(step.clone())));
    let moved: Vec<Message> = moved.chain([user("Thank you.")]).collect();
    let mut scenarios = Vec::new();
    for (name, messages) in
        [("hello", vec![user("Hello!")]), ("found", history::searches()), ("moved", moved)]
    {
        let mut request = request_with_messages(messages);
        match model.tool_deferral() {
            Some(_) => tools::defer_all(&mut request),
            None => request.tools = tools::all(),
        }
        scenarios.push((format!("searched-{name}"), request));
    }
    scenarios
}

fn choices(vendor: &str, model: &dyn Model) -> Vec<(String, ModelRequest)> {
    let long = "a_name_of_sixty_four_letters_".repeat(3);
    let named = ["get_weather", "1st_of_all", "web_search", "compute", &long[..64]];
    let choices = [("none", ToolChoice::None), ("required", ToolChoice::Required)];
    let named = named.map(|name| (name, ToolChoice::Named(name.to_owned())));
    let mut scenarios = Vec::new();
    for (name, choice) in choices.into_iter().chain(named) {
        let mut request = request_with_tools(vec![user("Hello!")]);
        request.tool_choice = choice.clone();
        scenarios.push((format!("choice-{name}"), request.clone()));
        request.options.effort = Some("low".to_owned());
        scenarios.push((format!("choice-{name}-thinking"), request));
        // No tools to choose from.
        if !matches!(choice, ToolChoice::Named(_)) {
            let mut request = request_with_messages(vec![user("Hello!")]);
            request.tool_choice = choice;
            scenarios.push((format!("choice-{name}-of-nothing"), request));
        }
    }
    let searches = searches().into_iter().map(|search| ("web_search", search));
    let servers = servers().into_iter().take(1).map(|server| ("wiki", server));
    let hosted = searches.chain(servers);
    for (place, (name, hosted)) in
        hosted.filter(|(_, it)| model.supports_hosted_tool(it)).enumerate()
    {
        let mut request = request_with_messages(vec![user("Hello!")]);
        request.hosted_tools = vec![hosted];
        request.tool_choice = ToolChoice::Required;
        scenarios.push((format!("choice-hosted-{place}-required"), request.clone()));
        // Anthropic cannot select all tools of one server.
        if (vendor, name) != ("anthropic", "wiki") {
            request.tool_choice = ToolChoice::Named(name.to_owned());
            scenarios.push((format!("choice-hosted-{place}-named"), request));
        }
    }
    scenarios
}

fn settings(rows: &[(&str, &str)]) -> Config {
    let sources = ConfigSources::new().defaults(rows.iter().copied());
    Config::load(sources).unwrap().config
}

/// Web search with and without a location, in every variant of the vendors.
fn searches() -> Vec<HostedTool> {
    let kinds = [
        "default",
        "web_search",
        "web_search_2025_08_26",
        "web_search_20250305",
        "web_search_20260209",
        "web_search_20260318",
    ];
    let place = [
        ("WebSearchTool.city", "Oslo"),
        ("WebSearchTool.country", "NO"),
        ("WebSearchTool.region", "Oslo"),
    ];
    let mut searches = Vec::new();
    for kind in kinds {
        for place in [&[][..], &place[..1], &place[..]] {
            let rows = [&[("WebSearchTool.type", kind)], place].concat();
            let search = settings(&rows).web_search().unwrap().unwrap();
            searches.push(HostedTool::WebSearch(search));
        }
    }
    searches
}

fn servers() -> Vec<HostedTool> {
    let groups = settings(&[
        ("MCP.name", "wiki"),
        ("MCP.url", "https://wiki.example/mcp"),
        ("MCP_1.name", "tickets"),
        ("MCP_1.url", "https://tickets.example/mcp"),
        ("MCP_1.description", "What is broken."),
        ("MCP_1.authorization", "Bearer made-up"),
    ]);
    let groups = groups.mcp_servers().unwrap();
    groups.into_iter().map(HostedTool::Mcp).collect()
}

fn hosted(model: &dyn Model) -> Vec<(String, ModelRequest)> {
    let mut scenarios = Vec::new();
    let searches = searches().into_iter().enumerate();
    let mut offers: Vec<(String, Vec<HostedTool>)> =
        searches.map(|(place, search)| (format!("search-{place}"), vec![search])).collect();
    offers.push(("servers".to_owned(), servers()));
    let both = self::searches().into_iter().take(1).chain(servers());
    offers.push(("both".to_owned(), both.collect()));
    for (_, hosted) in &mut offers {
        hosted.retain(|hosted| model.supports_hosted_tool(hosted));
    }
    offers.retain(|(_, hosted)| !hosted.is_empty());
    // In sequence, because plans for the same tools are cached.
    for (beside, ask) in
        [("", request_with_messages as fn(_) -> _), ("-beside-tools", request_with_tools)]
    {
        for (name, hosted) in &offers {
            let mut request = ask(vec![user("Hello!")]);
            request.hosted_tools.clone_from(hosted);
            scenarios.push((format!("hosted-{name}{beside}"), request));
        }
    }
    scenarios
}

/// Response formats: one that is lossless in strict mode, and others.
fn response_formats() -> Vec<(String, ModelRequest)> {
    let forms = [
        (
            "plain",
            "weather",
            json!({"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
                "required": ["city"], "additionalProperties": false}),
        ),
        (
            "loose",
            "Ein Name, der nicht geht, weil er viel zu lang ist und Leerzeichen hat: ü",
            json!({"type": "object", "additionalProperties": {"type": "number"}}),
        ),
        ("list", "", json!({"type": "array", "items": {"enum": ["a", null, 1]}})),
    ];
    let mut scenarios = Vec::new();
    for (scenario, name, schema) in forms {
        let form = ResponseFormat::new(name, Schema::check(schema).unwrap());
        let mut request = request_with_messages(vec![user("Hello!")]);
        request.response_format = Some(form);
        scenarios.push((format!("form-{scenario}"), request.clone()));
        request.system = None;
        request.tools = tools::all();
        request.options.effort = Some("medium".to_owned());
        scenarios.push((format!("form-{scenario}-with-tools"), request));
    }
    scenarios
}

fn options(vendor: &str) -> Vec<(String, ModelRequest)> {
    let set = |change: &dyn Fn(&mut ModelOptions)| {
        let mut request = request_with_tools(vec![user("Hello!")]);
        change(&mut request.options);
        request
    };
    let mut scenarios = vec![
        (
            "sampling".to_owned(),
            set(&|options| {
                options.max_tokens = Some(2_000);
                options.temperature = Some(0.7);
                options.top_p = Some(1.0);
            }),
        ),
        (
            "little-room".to_owned(),
            set(&|options| {
                options.max_tokens = Some(100);
                options.effort = Some("high".to_owned());
            }),
        ),
        (
            "everything".to_owned(),
            set(&|options| {
                options.max_tokens = Some(9_000);
                options.temperature = Some(0.0);
                options.top_p = Some(0.5);
                options.effort = Some("low".to_owned());
                options.extra = extra(vendor);
            }),
        ),
    ];
    for effort in ["minimal", "low", "medium", "high"] {
        let request = set(&|options| options.effort = Some(effort.to_owned()));
        scenarios.push((format!("effort-{effort}"), request));
    }
    scenarios
}

/// Extra fields, which are sent unchanged.
fn extra(vendor: &str) -> Map<String, Value> {
    let extra = match vendor {
        "openai" | "azure" => json!({"reasoning": {"summary": "auto"}, "service_tier": "flex"}),
        "anthropic" => json!({"metadata": {"user_id": "somebody"}}),
        "gemini" => {
            json!({"generationConfig": {"seed": 7}, "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}}})
        }
        "ollama" => json!({"options": {"seed": 7}, "keep_alive": "5m"}),
        _ => json!({"seed": 7, "parallel_tool_calls": false}),
    };
    extra.as_object().unwrap().clone()
}
