//! The command line: its output on stdout and stderr, and its exit codes.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn toolwright(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwright"));
    command.args(arguments).stdin(Stdio::null());
    command
}

/// Exit code, stdout, stderr.
fn output_parts(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    output_parts(&toolwright(arguments).output().unwrap())
}

fn run_with_stdin(arguments: &[&str], stdin: &str) -> (Option<i32>, String, String) {
    let mut command = toolwright(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
    output_parts(&child.wait_with_output().unwrap())
}

fn json(arguments: &[&str]) -> Value {
    let (code, out, err) = run(arguments);
    assert_eq!(code, Some(0), "{err}");
    serde_json::from_str(&out).unwrap()
}

#[test]
fn help_teaches_what_to_try_next() {
    let (code, out, _) = run(&["--help"]);
    assert_eq!(code, Some(0));
    for next in ["tools list", "tools show get_city_time", "tools call get_city_time city=Tokyo"] {
        assert!(out.contains(next), "{out}");
    }
    let (code, out, _) = run(&["tools", "call", "get_city_time", "city=Tokyo"]);
    assert!(code == Some(0) && out.contains("JST"), "{out}");
}

#[test]
fn a_call_prints_its_result_and_nothing_else() {
    let result = run(&["tools", "call", "convert_temperature", "value=100", "from_unit=C"]);
    assert_eq!(result, (Some(0), "100.0C = 212.0F\n".into(), String::new()));
}

#[test]
fn arguments_may_be_json_or_come_from_stdin() {
    let arguments = r#"{"value": 100, "from_unit": "C"}"#;
    let expected = (Some(0), "100.0C = 212.0F\n".into(), String::new());
    assert_eq!(run(&["tools", "call", "convert_temperature", arguments]), expected);
    let call = ["tools", "call", "convert_temperature", "-"];
    assert_eq!(run_with_stdin(&call, arguments), expected);
}

#[test]
fn a_bad_value_is_a_finding_that_names_its_place_and_type() {
    let (code, out, err) =
        run(&["tools", "call", "convert_temperature", "value=abc", "from_unit=C"]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(err.contains("/value: expected a number"), "{err}");
}

#[test]
fn a_misspelt_argument_is_a_finding_with_a_suggestion() {
    let (code, _, err) = run(&["tools", "call", "get_weather", "ctiy=Paris"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("/ctiy: unknown argument; did you mean `city`?"), "{err}");
}

#[test]
fn a_misspelt_tool_is_a_usage_error_with_a_suggestion() {
    for command in ["call", "show", "schema"] {
        let (code, out, err) = run(&["tools", command, "get_wether"]);
        assert_eq!((code, out.as_str()), (Some(2), ""));
        assert!(err.contains("did you mean `get_weather`?"), "{err}");
    }
}

#[test]
fn what_is_no_argument_is_a_usage_error() {
    let (code, _, err) = run(&["tools", "call", "get_weather", "Paris"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("write key=value"), "{err}");
    assert_eq!(run(&["tools", "frobnicate"]).0, Some(2));
    assert_eq!(run(&["tools", "list", "--project-dir", "no/such/folder"]).0, Some(2));
}

#[test]
fn invalid_json_fails_with_its_location() {
    let (code, _, err) = run(&["tools", "call", "get_weather", r#"{"city": Paris!}"#]);
    assert_eq!(code, Some(1));
    assert!(err.contains("line 1 column"), "{err}");
    let (code, _, err) = run(&["tools", "call", "get_weather", r#"{"city": "Par"#]);
    assert_eq!(code, Some(1));
    assert!(err.contains("cut off"), "{err}");
}

#[test]
fn the_list_as_json_has_every_field_in_a_stable_order() {
    let list = json(&["tools", "list", "--json"]);
    assert_eq!(list, json(&["--json", "tools", "list"]));
    let keys =
        ["name", "title", "description", "inputSchema", "outputSchema", "annotations", "bundle"];
    let tools = list.as_array().unwrap();
    for tool in tools {
        assert_eq!(tool.as_object().unwrap().keys().collect::<Vec<_>>(), keys);
    }
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let expected = [
        "get_current_time",
        "get_city_time",
        "issue_refund",
        "write_report",
        "get_weather",
        "convert_temperature",
    ];
    assert_eq!(names, expected);
}

#[test]
fn parameters_keep_their_order_and_extractors_are_hidden() {
    let schema = json(&["tools", "schema", "issue_refund"]);
    let properties = schema["properties"].as_object().unwrap();
    assert_eq!(properties.keys().collect::<Vec<_>>(), ["order", "amount", "reason"]);
    assert_eq!(schema["required"], serde_json::json!(["order", "amount"]));
    assert_eq!(properties["reason"]["default"], "customer request");
    let report = json(&["tools", "show", "write_report", "--json"]);
    let properties = report["inputSchema"]["properties"].as_object().unwrap();
    assert_eq!(properties.keys().collect::<Vec<_>>(), ["topic", "pace_ms"]);
}

#[test]
fn progress_goes_to_stderr_and_the_result_to_stdout() {
    let (code, out, err) = run(&["tools", "call", "write_report", "topic=rain", "pace_ms=0"]);
    assert_eq!(code, Some(0));
    assert_eq!(out, "Report on rain: 4 parts, nothing unusual.\n");
    assert!(err.starts_with("[  0%] collecting figures\n"), "{err}");
    assert!(err.ends_with("[100%] done\n"), "{err}");
}

#[test]
fn the_whole_result_is_printed_as_json() {
    let result = json(&["tools", "call", "get_weather", "city=Paris", "--json"]);
    assert_eq!(result["outcome"], "ok");
    assert_eq!(result["isError"], false);
    assert_eq!(result["tool"], "get_weather");
    assert_eq!(
        result["content"],
        serde_json::json!([{ "type": "text", "text": "Paris: Partly cloudy, 20C / 68F, 65% humidity" }])
    );
    let (code, out, _) = run(&["tools", "call", "get_weather", "--json"]);
    assert_eq!(code, Some(1));
    let result: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (&result["outcome"], &result["errorKind"]),
        (&"invalid_arguments".into(), &"retry".into())
    );
}

#[test]
fn a_dangerous_call_needs_a_yes() {
    let call = ["tools", "call", "issue_refund", "order=A-1042", "amount=5"];
    let (code, out, err) = run(&call);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(err.contains("--yes"), "{err}");
    let (code, out, _) = run(&[&call[..], &["--yes"]].concat());
    assert_eq!(code, Some(0));
    assert_eq!(out, "Refunded 5.00 EUR for order A-1042 (customer request)\n");
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut command = toolwright(&["tools", "list", "--json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let (_, _, err) = output_parts(&child.wait_with_output().unwrap());
    assert_eq!(err, "");
}

const SUMMARY: &str = "Summarize the provided content on bees concisely, in 50 words at most. \
    Begin with the main point and add nothing that the content does not say.";

#[test]
fn prompts_are_listed_apart_from_tools() {
    let (code, out, err) = run(&["prompts", "list"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert_eq!(
        out,
        "assistant_tools::summary\n  summarize_instructions  Tells the model how to summarise.\n"
    );
    assert!(!run(&["tools", "list"]).1.contains("summarize_instructions"));
    let list = json(&["prompts", "list", "--json"]);
    let prompt = &list.as_array().unwrap()[0];
    let keys = ["name", "title", "description", "role", "inputSchema", "bundle"];
    assert_eq!(prompt.as_object().unwrap().keys().collect::<Vec<_>>(), keys);
    assert_eq!((&prompt["title"], &prompt["role"]), (&"Summarize".into(), &"assistant".into()));
}

#[test]
fn a_prompt_prints_its_text_and_nothing_else() {
    let expected = (Some(0), format!("{SUMMARY}\n"), String::new());
    let render = ["prompts", "render", "summarize_instructions"];
    let pairs = ["topic=bees", "max_words=50"];
    assert_eq!(run(&[&render[..], &pairs].concat()), expected);
    let arguments = r#"{"topic": "bees", "max_words": 50}"#;
    assert_eq!(run(&[&render[..], &[arguments]].concat()), expected);
    let stdin = [&render[..], &["-"]].concat();
    assert_eq!(run_with_stdin(&stdin, arguments), expected);
    assert_eq!(
        json(&[&render[..], &pairs, &["--json"]].concat()),
        serde_json::json!({ "role": "assistant", "text": SUMMARY })
    );
    let (_, out, _) = run(&[&render[..], &["topic=bees"]].concat());
    assert!(out.contains("in 100 words at most"), "{out}");
}

#[test]
fn a_misspelt_prompt_is_a_usage_error_with_a_suggestion() {
    let (code, out, err) = run(&["prompts", "render", "summarise_instructions", "topic=bees"]);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert_eq!(
        err,
        "error: there is no prompt `summarise_instructions`; did you mean `summarize_instructions`?\n"
    );
    let (code, _, err) = run(&["prompts", "render", "get_weather", "city=Paris"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("`prompts list` shows all there are"), "{err}");
    assert_eq!(run(&["tools", "call", "summarize_instructions"]).0, Some(2));
    let render = ["prompts", "render", "summarize_instructions", "bees"];
    assert_eq!(run(&render).0, Some(2));
}

#[test]
fn a_bad_argument_of_a_prompt_is_a_finding() {
    let render = ["prompts", "render", "summarize_instructions"];
    let (code, out, err) = run(&[&render[..], &["topic=bees", "max_words=few"]].concat());
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(err.contains("/max_words: expected an integer"), "{err}");
    let (code, out, _) = run(&[&render[..], &["--json"]].concat());
    assert_eq!(code, Some(1));
    let result: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(result["outcome"], "invalid_arguments");
}

/// A project directory with a config file in it.
fn project(file: &str, text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(file), text).unwrap();
    folder
}

fn run_in(folder: &tempfile::TempDir, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = toolwright(arguments);
    output_parts(&command.arg("--project-dir").arg(folder.path()).output().unwrap())
}

#[test]
fn every_property_of_web_search_and_mcp_is_shown_with_its_place() {
    let properties = [
        "WebSearchTool.type=default",
        "WebSearchTool.city=Berlin",
        "WebSearchTool.country=DE",
        "WebSearchTool.region=Berlin",
        "MCP.name=docs",
        "MCP.url=https://docs.example/mcp",
        "MCP.description=The docs",
        "MCP.authorization=Bearer abc",
        "MCP.mode=client",
        "MCP_1.name=one",
        "MCP_1.url=https://one.example/mcp",
        "MCP_4.name=four",
        "MCP_4.url=https://four.example/mcp",
    ];
    let folder = project("toolwright.properties", &properties.join("\n"));
    let (code, out, err) = run_in(&folder, &["config", "show"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    for (line, property) in properties.iter().enumerate() {
        let (key, value) = property.split_once('=').unwrap();
        let value = if key == "MCP.authorization" { "***" } else { value };
        let shown = format!("{key} = {value} (toolwright.properties:{})", line + 1);
        assert!(out.lines().any(|line| line == shown), "{shown} is not in\n{out}");
    }
}

#[test]
fn a_group_without_its_url_is_an_error_that_names_the_key() {
    let folder = project("toolwright.properties", "MCP_2.name=late\n");
    let (code, _, err) = run_in(&folder, &["config", "show"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("`MCP_2.url` is missing"), "{err}");
}

#[test]
fn a_malformed_file_gives_file_line_and_what_was_expected() {
    let folder = project("toolwright.toml", "model = \"demo\"\n[tools\n");
    let (code, _, err) = run_in(&folder, &["tools", "list"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("toolwright.toml:2: ") && err.contains("expected"), "{err}");
    let folder = project("toolwright.properties", "a=1\nb=\\u12G4\n");
    let (code, _, err) = run_in(&folder, &["config", "show"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("toolwright.properties:2: expected four hexadecimal digits"), "{err}");
}

#[test]
fn an_unknown_setting_of_ours_is_an_error_with_its_line_and_the_nearest_name() {
    for (settings, key, line, near) in [
        ("modle = \"demo\"\n", "modle", 1, "model"),
        (
            "[models.openai]\nbase_uri = \"http://127.0.0.1:1\"\n",
            "models.openai.base_uri",
            2,
            "base_url",
        ),
        ("[models.opnai]\nkey = \"x\"\n", "models.opnai.key", 2, "openai"),
        ("[server]\ntokn = \"x\"\n", "server.tokn", 2, "token"),
        ("[WebSearchTool]\ntypes = \"default\"\n", "WebSearchTool.types", 2, "type"),
        ("[MCP_1]\nname = \"a\"\nulr = \"http://127.0.0.1:1\"\n", "MCP_1.ulr", 3, "url"),
        ("[mcp.server.a]\nurl = \"http://127.0.0.1:1\"\n", "mcp.server.a.url", 2, "servers"),
        ("[mcp.servers.a]\nurll = \"http://127.0.0.1:1\"\n", "mcp.servers.a.urll", 2, "url"),
    ] {
        let folder = project("toolwright.toml", settings);
        let (code, _, err) = run_in(&folder, &["tools", "list"]);
        assert_eq!(code, Some(1), "{settings}: {err}");
        let location = format!("setting `{key}` (toolwright.toml:{line}): ");
        assert!(err.contains(&location), "{settings}: {err}");
        assert!(err.contains(&format!("did you mean `{near}`?")), "{err}");
    }
}

#[test]
fn a_misspelt_section_is_an_error_with_the_nearest_name() {
    for (section, near) in [
        ("qouta", "quota"),
        ("sever", "server"),
        ("servres", "server"),
        ("Server", "server"),
        ("tool.get_weather", "tools"),
        ("model", "models"),
        ("MPC", "MCP"),
        ("mcp_1", "MCP_1"),
        ("websearchtool", "WebSearchTool"),
    ] {
        for heading in [format!("[{section}]"), format!("[[{section}.x]]")] {
            let folder = project("toolwright.toml", &format!("{heading}\nx = 1\n"));
            let (code, _, err) = run_in(&folder, &["config", "show"]);
            assert_eq!(code, Some(1), "{heading}: {err}");
            assert!(err.contains(&format!("did you mean `{near}`?")), "{heading}: {err}");
        }
    }
    // A list is not a section.
    let folder = project("toolwright.toml", "[[quota]]\ncost_per_day = 1\n");
    let (code, _, err) = run_in(&folder, &["config", "show"]);
    assert!(code == Some(1) && err.contains("it is a section, in which there are"), "{err}");
}

#[test]
fn a_variable_without_effect_is_an_error_with_the_nearest_name() {
    let settings = "[login.corp]\nissuer = \"https://login.example\"\n\
                    [map_tiles]\nzoom = 3\n[mcp.servers.wiki]\nurl = \"http://127.0.0.1:9\"\n";
    let folder = project("toolwright.toml", settings);
    let run_in = |folder: &tempfile::TempDir, variable: &str| {
        let mut command = toolwright(&["tools", "show", "get_weather"]);
        command.arg("--project-dir").arg(folder.path()).env(variable, "1");
        output_parts(&command.output().unwrap())
    };
    let run_with = |variable: &str| run_in(&folder, variable);
    for (variable, hint) in [
        ("QUOTA_COST_PER_DAYS", "did you mean `TOOLWRIGHT_QUOTA_COST_PER_DAY`?"),
        ("QUOTA_COST_PER_DAY_EACH", "did you mean `TOOLWRIGHT_QUOTA_COST_PER_DAY`?"),
        ("QOUTA_COST_PER_DAY", "did you mean `TOOLWRIGHT_QUOTA_COST_PER_DAY`?"),
        ("QOUTA_MESSAGES_PER_MIN", "did you mean `TOOLWRIGHT_QUOTA_MESSAGES_PER_MINUTE`?"),
        ("SEVER_TOKEN", "did you mean `TOOLWRIGHT_SERVER_TOKEN`?"),
        ("SERVER_TOKNE", "did you mean `TOOLWRIGHT_SERVER_TOKEN`?"),
        ("server_token", "did you mean `TOOLWRIGHT_SERVER_TOKEN`?"),
        ("MODLE", "did you mean `TOOLWRIGHT_MODEL`?"),
        ("MODEL_NAME", "did you mean `TOOLWRIGHT_M"),
        ("MODELS_OPENAI_KEYS", "did you mean `TOOLWRIGHT_MODELS_OPENAI_KEY`?"),
        ("MCP_3_ULR", "did you mean `TOOLWRIGHT_MCP_3_URL`?"),
        ("LOGIN_CORP_CLIENT_SECRTE", "did you mean `TOOLWRIGHT_LOGIN_CORP_CLIENT_SECRET`?"),
        ("LOGIN_OTHER_CLIENT_SECRET", "in a section `[login.NAME]` that the settings file has"),
        ("QUOTA_ROLES_STAFF_COST_PER_DAY", "in a section `[quota.roles.NAME]` that"),
        ("MODELS_OPENAI_HEADERS_X_TEAM", "in a section `[models.openai.headers]` that"),
        ("TOOLS_GET_WEATHER_TIMOUT", "did you mean `TOOLWRIGHT_TOOLS_GET_WEATHER_TIMEOUT`?"),
        ("DEFAULTS_TIMOUT", "did you mean `TOOLWRIGHT_DEFAULTS_TIMEOUT`?"),
    ] {
        let variable = format!("TOOLWRIGHT_{variable}");
        let (code, _, err) = run_with(&variable);
        assert_eq!(code, Some(1), "{variable}: {err}");
        assert!(err.contains(&format!("variable `{variable}`: ")), "{err}");
        assert!(err.contains(hint), "{err}");
    }
    for variable in ["TOOLWRIGT_SERVER_TOKEN", "TOOLWIRGHT_MCP_3_URL", "toolwright_MODEL"] {
        let mut command = toolwright(&["tools", "show", "get_weather"]);
        command.env(variable, "1");
        let (code, _, err) = output_parts(&command.output().unwrap());
        let meant = format!("TOOLWRIGHT_{}", variable.split_once('_').unwrap().1);
        assert_eq!(code, Some(1), "{variable}: {err}");
        assert!(err.contains(&format!("did you mean `{meant}`?")), "{err}");
    }
    // Where no server is away, the names of all tools are known.
    let without_servers = project("toolwright.toml", "");
    for (variable, hint) in [
        ("TOOLS_GET_WAETHER_PINNED", "there is no tool `get_waether`; did you mean `get_weather`?"),
        ("BUNDLES_CLCOK_PINNED", "there is no bundle `clcok`"),
    ] {
        let (code, _, err) = run_in(&without_servers, &format!("TOOLWRIGHT_{variable}"));
        assert_eq!(code, Some(1), "{variable}: {err}");
        assert!(err.contains(hint), "{err}");
    }
    for variable in [
        "QUOTA_COST_PER_DAY",
        "MCP_3_NAME",
        "MCP_3_URL",
        "MCP_SEARCH",
        "LOGIN_CORP_CLIENT_SECRET",
        "MCP_SERVERS_WIKI_AUTHORIZATION",
        "MODELS_LLAMA_CPP_KEY",
        "TOOLS_GET_WEATHER_PINNED",
        "TOOLS_SEARCH_MAX_TOOLS",
        "DEFAULTS_PINNED",
        "MAP_TILES_KEY",
        "SHOP_STOCK",
        "FORBID_LIVE",
    ] {
        let (code, _, err) = run_with(&format!("TOOLWRIGHT_{variable}"));
        assert!(!err.contains("no such setting"), "{variable}: {err}");
        assert!(code == Some(0) || variable == "MCP_3_NAME", "{variable}: {err}");
    }
}

#[test]
fn the_variables_that_kubernetes_sets_for_a_service_are_no_settings() {
    let mut command = toolwright(&["tools", "show", "get_weather"]);
    for service in ["TOOLWRIGHT", "TOOLWRIGHT_SERVER", "TOOLWRIGHT_MCP"] {
        for name in
            ["SERVICE_HOST", "SERVICE_PORT", "SERVICE_PORT_HTTP", "PORT", "PORT_8787_TCP_ADDR"]
        {
            command.env(format!("{service}_{name}"), "1");
        }
    }
    let (code, _, err) = output_parts(&command.output().unwrap());
    assert_eq!((code, err.as_str()), (Some(0), ""));
}

#[test]
fn a_section_that_tools_read_may_hold_anything() {
    let settings = "[mail]\nhots = \"localhost\"\n[mail.models]\nbase_uri = 1\n\
                    [[rules]]\nname = \"first\"\n";
    let folder = project("toolwright.toml", settings);
    let (code, _, err) = run_in(&folder, &["tools", "list"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    // Outside of sections, all keys must be known.
    let folder = project("toolwright.toml", "greeting = \"Hello\"\n");
    let (code, _, err) = run_in(&folder, &["tools", "list"]);
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("into a section of its own"), "{err}");
}

#[test]
fn settings_of_a_tool_are_followed() {
    let folder = project(
        "toolwright.toml",
        "[tools.get_weather]\nenabled = false\n[tools.get_city_time]\napproval = \"always\"\n",
    );
    let (_, out, _) = run_in(&folder, &["tools", "list"]);
    assert!(!out.contains("get_weather") && out.contains("get_city_time"), "{out}");
    assert_eq!(run_in(&folder, &["tools", "call", "get_weather", "city=Oslo"]).0, Some(2));
    let (code, _, err) = run_in(&folder, &["tools", "call", "get_city_time", "city=Oslo"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("--yes"), "{err}");
}

#[test]
fn settings_of_the_cluster_are_shown_without_a_password() {
    let file =
        "[cluster]\nbus = \"nats://ada:hunter2@one:4222,ada:hunter2@two\"\nnode = \"eu-1\"\n";
    let folder = project("toolwright.toml", file);
    let (code, out, err) = run_in(&folder, &["config", "show"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert!(out.contains("cluster.bus = nats://***@two (toolwright.toml:2)"), "{out}");
    assert!(out.contains("cluster.node = eu-1 (toolwright.toml:3)"), "{out}");
    let mut command = toolwright(&["config", "show"]);
    command.env("TOOLWRIGHT_CLUSTER_BUS", "tls://hunter2@three").arg("--project-dir");
    let (_, out, _) = output_parts(&command.arg(folder.path()).output().unwrap());
    assert!(out.contains("cluster.bus = tls://***@three (TOOLWRIGHT_CLUSTER_BUS)"), "{out}");
    assert!(!out.contains("hunter2"), "{out}");
    let misspelt = project("toolwright.toml", "[cluster]\nbuss = \"store\"\n");
    let (code, _, err) = run_in(&misspelt, &["config", "show"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("did you mean `bus`?"), "{err}");
}

#[test]
fn a_bus_that_cannot_be_used_is_refused_with_what_to_do() {
    let folder = project("toolwright.toml", "store = \"sqlite:here.sqlite\"\n");
    let serve = |bus: &str| {
        let mut command = toolwright(&["serve", "--port", "0", "--model", "demo", "--bus", bus]);
        command.current_dir(folder.path());
        output_parts(&command.output().unwrap())
    };
    for bus in ["store", "nats://localhost", "postgres://localhost/shop"] {
        let (code, _, err) = serve(bus);
        assert_eq!(code, Some(2), "{err}");
        assert!(
            err.contains("--bus: a bus connects nodes that share a store, and SQLite is for one"),
            "{err}"
        );
        assert!(err.contains("pass --store postgres://HOST/DATABASE"), "{err}");
    }
}

#[test]
fn no_secret_is_ever_written() {
    const SECRETS: [&str; 4] = [
        "sk-live-4eC39HqLyjWDarjtT1zdp7dc",
        "hunter2-correct-horse",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "swordfish-in-a-variable",
    ];
    let [key, password, token, variable] = SECRETS;
    let good = project(
        "toolwright.properties",
        &format!(
            "MCP.name=docs\nMCP.url=https://x.example/\nMCP.authorization=Bearer {key}\nmail.password={password}\nmail.note={token}\n"
        ),
    );
    let broken = project("toolwright.toml", &format!("api_key = \"{key}\npassword = {password}\n"));
    let wrong = project("toolwright.toml", &format!("[tools.get_weather]\ntimeout = \"{key}\"\n"));
    let value = format!("value={key}");
    let unknown =
        format!(r#"{{"city": 5, "password": "{password}", "token": {{"a": "{token}"}}}}"#);
    let cut = format!(r#"{{"city": "{key}"#);
    let calls: [&[&str]; 7] = [
        &["config", "show"],
        &["config", "show", "--json"],
        &["tools", "list"],
        &["tools", "call", "convert_temperature", &value, "from_unit=C"],
        &["tools", "call", "get_weather", &unknown],
        &["tools", "call", "get_weather", &unknown, "--json"],
        &["tools", "call", "get_weather", &cut],
    ];
    let mut written = String::new();
    for folder in [&good, &broken, &wrong] {
        for call in calls {
            let mut command = toolwright(call);
            command.env("TOOLWRIGHT_SMTP_PASSWORD", variable).env("RUST_BACKTRACE", "full");
            command.arg("--project-dir").arg(folder.path());
            let (_, out, err) = output_parts(&command.output().unwrap());
            written.push_str(&out);
            written.push_str(&err);
        }
    }
    assert!(written.contains("***"), "nothing was masked:\n{written}");
    for secret in SECRETS {
        assert!(!written.contains(secret), "{secret} was written:\n{written}");
    }
}
