//! Policies and layers from settings.

use std::time::Duration;

use futures::FutureExt as _;
use toolwright::{
    ApprovalPolicy, CallScope, Config, ConfigSources, Invoker, InvokerError, Outcome, Registry,
    Tool, ToolBuilder, ToolCall, ToolError, ToolResult,
};

use crate::fixtures::{
    CallCounter, assert_ok, assert_rejected, counting_tool, registry, tool_named,
};

/// Loads a file of this text.
fn file(text: &str) -> Config {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("toolwright.toml");
    std::fs::write(&path, text).unwrap();
    Config::load(ConfigSources::new().file(path)).unwrap().config
}

fn environment<const N: usize>(variables: [(&str, &str); N]) -> Config {
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let sources = ConfigSources::new().environment(variables);
    Config::load(sources).unwrap().config
}

/// `get_weather` and `get_time` of the bundle `sky`, which are read-only; `send` of the bundle `post`.
fn tools() -> Registry {
    let registry = Registry::new();
    for (name, bundle, read_only) in
        [("get_weather", "sky", true), ("get_time", "sky", true), ("send", "post", false)]
    {
        let tool = Tool::builder(name, "Does it.").bundle(bundle);
        let tool = tool.read_only(read_only).param::<Option<u8>>("n", "");
        registry.add(counting_tool(tool).0).unwrap();
    }
    registry
}

fn try_invoker(registry: &Registry, config: Config) -> Result<Invoker, InvokerError> {
    Invoker::builder(registry).config(config).build()
}

fn invoker(config: Config) -> Invoker {
    try_invoker(&tools(), config).unwrap()
}

async fn call(invoker: &Invoker, tool: &str) -> ToolResult {
    invoker.invoke(&ToolCall::new(tool, "{}")).await
}

fn names(invoker: &Invoker) -> Vec<String> {
    let tools = invoker.list(&CallScope::new()).unwrap();
    tools.iter().map(|it| it.spec().name.to_string()).collect()
}

/// Reads a field of the policy of each tool.
fn policies<T>(config: Config, read: impl Fn(&toolwright::Policy) -> T) -> Vec<T> {
    let snapshot = invoker(config).snapshot().unwrap();
    snapshot.iter().map(|entry| read(entry.policy())).collect()
}

const fn seconds(n: u64) -> Option<Duration> {
    Some(Duration::from_secs(n))
}

// Valid settings.

#[tokio::test]
async fn a_tool_that_is_not_enabled_is_neither_seen_nor_called() {
    for (config, left) in [
        ("[tools.send]\nenabled = false", vec!["get_weather", "get_time"]),
        ("[bundles.sky]\nenabled = false", vec!["send"]),
        ("[defaults]\nenabled = false", vec![]),
        (
            "[defaults]\nenabled = false\n[bundles.sky]\nenabled = true\n[tools.get_time]\nenabled = false",
            vec!["get_weather"],
        ),
    ] {
        let invoker = invoker(file(config));
        assert_eq!(names(&invoker), left, "{config}");
        for tool in ["get_weather", "get_time", "send"] {
            let outcome = call(&invoker, tool).await.outcome;
            match left.contains(&tool) {
                true => assert_eq!(outcome, Outcome::Ok),
                false => assert_eq!(outcome, Outcome::UnknownTool),
            }
        }
    }
}

#[test]
fn a_tool_counts_before_its_bundle_and_that_before_the_defaults() {
    let timeouts = |text| policies(file(text), |policy| policy.timeout);
    assert_eq!(timeouts(""), [None, None, None]);
    assert_eq!(timeouts("[defaults]\ntimeout = '1s'"), [seconds(1), seconds(1), seconds(1)]);
    assert_eq!(
        timeouts("[defaults]\ntimeout = '1s'\n[bundles.sky]\ntimeout = '2m'"),
        [seconds(120), seconds(120), seconds(1)]
    );
    assert_eq!(
        timeouts(
            "[defaults]\ntimeout = '1s'\n[bundles.sky]\ntimeout = '2m'\n[tools.get_time]\ntimeout = '3h'"
        ),
        [seconds(120), seconds(10_800), seconds(1)]
    );
    assert_eq!(
        timeouts("[tools.get_time]\ntimeout = '500ms'"),
        [None, Some(Duration::from_millis(500)), None]
    );
}

#[test]
fn the_environment_sets_what_a_file_can() {
    let config = environment([
        ("TOOLWRIGHT_DEFAULTS_TIMEOUT", "1s"),
        ("TOOLWRIGHT_BUNDLES_SKY_TIMEOUT", "2s"),
        ("TOOLWRIGHT_TOOLS_GET_TIME_TIMEOUT", "3s"),
        ("TOOLWRIGHT_TOOLS_GET_TIME_CONCURRENCY", "7"),
        ("TOOLWRIGHT_TOOLS_SEND_APPROVAL", "always"),
    ]);
    let all = policies(config, |it| (it.timeout, it.concurrency, it.approval));
    assert_eq!(
        all,
        [
            (seconds(2), 64, ApprovalPolicy::Auto),
            (seconds(3), 7, ApprovalPolicy::Auto),
            (seconds(1), 64, ApprovalPolicy::Always),
        ]
    );
}

#[tokio::test]
async fn the_environment_can_switch_a_tool_off() {
    for no in ["false", "no", "off", "0"] {
        let config = environment([("TOOLWRIGHT_TOOLS_GET_TIME_ENABLED", no)]);
        assert_eq!(names(&invoker(config)), ["get_weather", "send"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_timeout_can_be_set() {
    let tool = Tool::builder("wait", "Waits.").timeout(Duration::from_secs(9));
    let tool = tool.run_async(|_, _| std::future::pending::<()>());
    let config = file("[tools.wait]\ntimeout = '2 s'");
    let invoker = try_invoker(&registry(tool.unwrap()), config).unwrap();
    let result = call(&invoker, "wait").await;
    assert_eq!(result.text(), "timed out after 2s");
}

#[test]
fn tools_can_be_pinned_beside_the_settings_of_the_search() {
    let text = "[tools]\nsearch = 'on'\nsearch_max_tools = 9\n[tools.send]\npinned = true";
    assert_eq!(policies(file(text), |policy| policy.pinned), [false, false, true]);
    let text = "[bundles.sky]\npinned = true";
    assert_eq!(policies(file(text), |policy| policy.pinned), [true, true, false]);
}

#[tokio::test]
async fn approval_can_be_set() {
    for (word, expected) in [
        ("always", [Outcome::Denied, Outcome::Denied]),
        ("never", [Outcome::Ok, Outcome::Ok]),
        ("auto", [Outcome::Ok, Outcome::Denied]),
    ] {
        let registry = registry(tool_named("look"));
        let drop = Tool::builder("drop", "Drops.").destructive(true);
        registry.add(drop.run(|_, _| "dropped").unwrap()).unwrap();
        let config = file(&format!("[defaults]\napproval = '{word}'"));
        let invoker = try_invoker(&registry, config).unwrap();
        let outcomes = [call(&invoker, "look").await, call(&invoker, "drop").await];
        assert_eq!(outcomes.map(|it| it.outcome), expected, "{word}");
    }
}

#[tokio::test]
async fn concurrency_can_be_set() {
    let entered = CallCounter::default();
    let counted = entered.clone();
    let tool = Tool::builder("wait", "Waits.").run_async(move |_, _| {
        counted.increment();
        std::future::pending::<()>()
    });
    let registry = registry(tool.unwrap());
    let config = file("[tools.wait]\nconcurrency = 2");
    let invoker = try_invoker(&registry, config).unwrap();
    let mut running = Vec::new();
    for entered_by_now in [1, 2, 2] {
        let invoker = invoker.clone();
        let mut call = async move { call(&invoker, "wait").await }.boxed();
        assert!((&mut call).now_or_never().is_none());
        assert_eq!(entered.get(), entered_by_now);
        running.push(call);
    }
    // Running calls are still counted after the registry has changed.
    registry.add(tool_named("other")).unwrap();
    let mut another = call(&invoker, "wait").boxed();
    assert!((&mut another).now_or_never().is_none());
    assert_eq!(entered.get(), 2);
    drop(running);
    assert!((&mut another).now_or_never().is_none());
    assert_eq!(entered.get(), 3);
}

#[tokio::test]
async fn the_error_policy_can_be_set() {
    let tool = Tool::builder("fail", "Fails.");
    let tool = tool.run(|_, _| Err::<(), _>(ToolError::failed("the disk is full")));
    let registry = registry(tool.unwrap());
    let invoker = |text| try_invoker(&registry, file(text)).unwrap();
    let message = call(&invoker("[tools.fail]\nerrors = 'message'"), "fail").await;
    assert_eq!(message.text(), "the disk is full");
    let generic = call(&invoker("[tools.fail]\nerrors = 'generic'"), "fail").await;
    assert_eq!(generic.text(), "the tool failed");
}

#[tokio::test]
async fn the_handling_of_unknown_arguments_can_be_set() {
    let more = ToolCall::new("send", r#"{"to": "all"}"#);
    let refusing = invoker(file("[tools.send]\nextra = 'refuse'"));
    assert_rejected(&refusing.invoke(&more).await, &["to"]);
    let ignoring = invoker(file("[tools.send]\nextra = 'ignore'"));
    assert_ok(&ignoring.invoke(&more).await, "0");
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_can_be_set() {
    let invoker =
        invoker(file("[defaults]\nrate_limit = '1/m'\n[tools.send]\nrate_limit = '2 / h'"));
    let minute = Duration::from_secs(60);
    for (tool, expected) in [
        ("get_time", Outcome::Ok),
        ("get_weather", Outcome::Ok),
        ("get_time", Outcome::Denied),
        ("send", Outcome::Ok),
        ("send", Outcome::Ok),
        ("send", Outcome::Denied),
    ] {
        assert_eq!(call(&invoker, tool).await.outcome, expected, "{tool}");
    }
    tokio::time::advance(minute).await;
    assert_eq!(call(&invoker, "get_time").await.outcome, Outcome::Ok);
    assert_eq!(call(&invoker, "send").await.outcome, Outcome::Denied);
    tokio::time::advance(59 * minute).await;
    assert_eq!(call(&invoker, "send").await.outcome, Outcome::Ok);
}

/// A tool that always fails, and the number of its runs.
fn failing(name: &str, read_only: bool) -> (Tool, CallCounter) {
    let runs = CallCounter::default();
    let counted = runs.clone();
    let tool = Tool::builder(name, "Fails.").read_only(read_only);
    let tool = tool.run(move |_, _| {
        counted.increment();
        Err::<(), _>(ToolError::failed("no"))
    });
    (tool.unwrap(), runs)
}

#[tokio::test(start_paused = true)]
async fn retries_can_be_set_and_skip_tools_that_are_not_repeatable() {
    let (look, looks) = failing("look", true);
    let (send, sends) = failing("send", false);
    let registry = registry(vec![look, send]);
    let invoker = try_invoker(&registry, file("[defaults]\nretries = 2")).unwrap();
    call(&invoker, "look").await;
    call(&invoker, "send").await;
    assert_eq!((looks.get(), sends.get()), (3, 1));
}

#[tokio::test(start_paused = true)]
async fn a_cache_can_be_set_and_skips_tools_that_are_not_repeatable() {
    for text in
        ["[defaults]\ncache = '5m'", "[bundles.sky]\ncache = '5m'\n[bundles.post]\ncache = '5m'"]
    {
        let invoker = invoker(file(text));
        for _ in 0..2 {
            assert_ok(&call(&invoker, "get_time").await, "0");
        }
        assert_ok(&call(&invoker, "send").await, "0");
        assert_ok(&call(&invoker, "send").await, "1");
        tokio::time::advance(Duration::from_secs(300)).await;
        assert_ok(&call(&invoker, "get_time").await, "1");
    }
}

#[tokio::test]
async fn counts_and_results_survive_a_change_of_the_registry() {
    let registry = tools();
    let config = file("[tools.get_time]\ncache = '1h'\n[tools.send]\nrate_limit = '1/h'");
    let invoker = try_invoker(&registry, config).unwrap();
    assert_ok(&call(&invoker, "get_time").await, "0");
    assert_ok(&call(&invoker, "send").await, "0");
    registry.add(tool_named("other")).unwrap();
    assert_ok(&call(&invoker, "other").await, "other");
    assert_ok(&call(&invoker, "get_time").await, "0");
    assert_eq!(call(&invoker, "send").await.outcome, Outcome::Denied);
}

#[tokio::test]
async fn a_tool_that_is_removed_leaves_the_others_as_they_are() {
    let registry = tools();
    let config = file("[tools.send]\ntimeout = '1s'\n[bundles.post]\nretries = 1");
    let invoker = try_invoker(&registry, config).unwrap();
    registry.remove("send").unwrap();
    assert_ok(&call(&invoker, "get_time").await, "0");
    assert_eq!(call(&invoker, "send").await.outcome, Outcome::UnknownTool);
}

#[test]
fn settings_may_name_tools_that_a_view_leaves_out() {
    let config = file("[tools.send]\ntimeout = '1s'\n[bundles.post]\nretries = 1");
    let view = tools().all().select(["get_time"]);
    assert!(Invoker::builder(view).config(config).build().is_ok());
}

#[test]
fn settings_may_name_tools_as_a_view_names_them() {
    let config = file("[tools.my_send]\ntimeout = '1s'");
    let view = tools().all().prefix("my");
    let invoker = Invoker::builder(view).config(config).build().unwrap();
    let snapshot = invoker.snapshot().unwrap();
    let policy = snapshot.get("my_send").unwrap().policy();
    assert_eq!(policy.timeout, seconds(1));
}

// Invalid settings.

#[track_caller]
fn assert_wrong(config: Config, expected: &[&str]) {
    let error = try_invoker(&tools(), config).unwrap_err().to_string();
    for part in expected {
        assert!(error.contains(part), "{part:?} in {error}");
    }
}

#[test]
fn an_unknown_name_is_rejected_with_the_nearest_and_its_origin() {
    for (text, expected) in [
        (
            "[tools.get_wether]\nenabled = false",
            ["tools.get_wether.enabled", "toolwright.toml:2", "`get_weather`"],
        ),
        (
            "\n\n[bundles.skies]\nenabled = false",
            ["bundles.skies.enabled", "toolwright.toml:4", "there is no bundle `skies`"],
        ),
        (
            "[bundles.pots]\nenabled = false",
            ["bundles.pots.enabled", "toolwright.toml:2", "`post`"],
        ),
        ("[tools.send]\ntimeuot = '1s'", ["tools.send.timeuot", "toolwright.toml:2", "`timeout`"]),
        (
            "[bundles.sky]\nretry = 1",
            ["bundles.sky.retry", "toolwright.toml:2", "no setting `retry`"],
        ),
        (
            "[defaults]\nretries = 1\naproval = 'always'",
            ["defaults.aproval", "toolwright.toml:3", "`approval`"],
        ),
        (
            "[tools.send.retries]\nmost = 1",
            ["tools.send.retries.most", "toolwright.toml:2", "`send.retries`"],
        ),
        ("[tools]\nsend = false", ["tools.send", "toolwright.toml:2", "tools.send.enabled"]),
    ] {
        assert_wrong(file(text), &expected);
    }
}

#[test]
fn an_invalid_value_is_rejected_with_its_origin() {
    for (setting, expected) in [
        ("timeout = '10'", "such as `30s`"),
        ("timeout = 's'", "such as `30s`"),
        ("timeout = '1.5s'", "such as `30s`"),
        ("timeout = '-1s'", "such as `30s`"),
        ("timeout = '0s'", "such as `30s`"),
        ("timeout = '5 parsecs'", "such as `30s`"),
        ("timeout = '99999999999999999999s'", "such as `30s`"),
        ("timeout = '18446744073709551615h'", "such as `30s`"),
        ("timeout = 10", "expected"),
        ("cache = 'long'", "such as `30s`"),
        ("rate_limit = '10'", "such as `10/m`"),
        ("rate_limit = '/m'", "such as `10/m`"),
        ("rate_limit = '10/fortnight'", "such as `10/m`"),
        ("rate_limit = '-1/m'", "such as `10/m`"),
        ("rate_limit = '0/m'", "enabled = false"),
        ("rate_limit = 10", "expected"),
        ("approval = 'sometimes'", "always"),
        ("approvers = 'manager'", "role:NAME"),
        ("approvers = ['owner', 'role:']", "subject:ID"),
        ("approvers = 7", "expected"),
        ("errors = 'all'", "generic"),
        ("extra = 'keep'", "ignore"),
        ("retries = 'many'", "expected"),
        ("retries = -1", "expected"),
        ("concurrency = 0", "at least 1"),
        ("concurrency = 'few'", "expected"),
        ("enabled = 'perhaps'", "expected"),
    ] {
        let (key, _) = setting.split_once(' ').unwrap();
        for section in ["tools.get_time", "bundles.sky", "defaults"] {
            let text = format!("[{section}]\n{setting}");
            let key = format!("`{section}.{key}`");
            assert_wrong(file(&text), &[&key, "toolwright.toml:2", expected]);
        }
    }
}

#[test]
fn approvers_are_a_text_or_a_list() {
    let text = "[tools.send]\napprovers = ['role:manager', 'subject:ada']\n[defaults]\napprovers = 'owner, role:boss'";
    let shown = policies(file(text), |policy| serde_json::to_string(&policy.approvers).unwrap());
    let send = shown.iter().filter(|it| *it == r#"["role:manager","subject:ada"]"#).count();
    assert_eq!(send, 1, "{shown:?}");
    let others = shown.iter().filter(|it| *it == r#"["owner","role:boss"]"#).count();
    assert_eq!(send + others, shown.len(), "{shown:?}");
    let config = environment([("TOOLWRIGHT_TOOLS_SEND_APPROVERS", "role:manager")]);
    let shown = policies(config, |policy| policy.approvers.is_owner_only());
    assert_eq!(shown.iter().filter(|owner_only| !**owner_only).count(), 1);
}

#[test]
fn an_error_in_the_environment_has_the_variable() {
    let config = environment([("TOOLWRIGHT_TOOLS_SEND_TIMEOUT", "soon")]);
    let variable = "TOOLWRIGHT_TOOLS_SEND_TIMEOUT";
    assert_wrong(config, &["tools.send.timeout", variable, "such as `30s`"]);
    let config = environment([("TOOLWRIGHT_DEFAULTS_APPROVAL", "maybe")]);
    let variable = "TOOLWRIGHT_DEFAULTS_APPROVAL";
    assert_wrong(config, &["defaults.approval", variable, "always"]);
}

#[test]
fn retries_and_cache_of_a_tool_that_is_not_repeatable_are_rejected() {
    for setting in ["retries = 2", "cache = '1m'"] {
        let text = format!("[tools.send]\n{setting}");
        assert_wrong(file(&text), &["toolwright.toml:2", "`send` runs once only"]);
        let bundle = format!("[bundles.post]\n{setting}");
        assert!(try_invoker(&tools(), file(&bundle)).is_ok());
    }
}

#[test]
fn the_largest_numbers_are_only_large() {
    let text = "[defaults]\nconcurrency = 9223372036854775807\nretries = 4294967295\ntimeout = '1000000000h'\nrate_limit = '4294967295/h'";
    assert!(try_invoker(&tools(), file(text)).is_ok());
}

#[tokio::test]
async fn the_longest_times_are_only_long() {
    let tool = Tool::builder("wait", "Waits.").read_only(true);
    let tool: ToolBuilder = tool.param::<Option<u8>>("n", "");
    let tool = tool.run_async(|_, _| async {
        tokio::task::yield_now().await;
        "waited"
    });
    let text = "[defaults]\ntimeout = '5000000000000h'\ncache = '5000000000000h'";
    let invoker = try_invoker(&registry(tool.unwrap()), file(text)).unwrap();
    for _ in 0..2 {
        assert_ok(&call(&invoker, "wait").await, "waited");
    }
}
