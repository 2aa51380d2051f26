//! The precedence of sources.

use std::fs;

use super::*;

#[test]
fn a_flag_beats_the_environment_which_beats_the_file_which_beats_the_defaults() {
    let directory = tempfile::tempdir().unwrap();
    let text = "b = 'file'\nc = 'file'\nd = 'file'";
    fs::write(directory.path().join("toolwright.toml"), text).unwrap();
    let keys = ["a", "b", "c", "d"];
    let sources = ConfigSources::new()
        .flag("d", "flag", "--d")
        .environment(variables(&[("TOOLWRIGHT_C", "env"), ("TOOLWRIGHT_D", "env")]))
        .directory(directory.path())
        .defaults(keys.map(|key| (key, "default")));
    let config = load(sources).0;
    let values = keys.map(|key| config.get::<String>(key).unwrap());
    assert_eq!(values, ["default", "file", "env", "flag"]);
    let origins = keys.map(|key| config.origin(key).unwrap().to_string());
    assert_eq!(origins, ["default", "toolwright.toml:1", "TOOLWRIGHT_C", "--d"]);
}

#[test]
fn a_blank_value_lets_what_lies_below_show_through() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("toolwright.toml"), "model = ' '").unwrap();
    let sources = ConfigSources::new()
        .defaults([("model", "demo")])
        .directory(directory.path())
        .environment(variables(&[("TOOLWRIGHT_MODEL", "\t")]))
        .flag("model", "", "--model");
    let config = load(sources).0;
    assert_eq!(config.get::<String>("model").unwrap(), "demo");
}

#[test]
fn a_blank_value_alone_is_a_missing_one() {
    assert_eq!(properties("a=\nb: \t").keys_under(""), Vec::<&str>::new());
    assert_eq!(environment(&[("TOOLWRIGHT_A", " ")]).get_optional::<String>("a").unwrap(), None);
    assert!(environment(&[("OPENAI_API_KEY", "")]).env_var("OPENAI_API_KEY").is_none());
}

#[test]
fn the_variable_of_a_key_has_underscores_for_dots_and_dashes() {
    let config = environment(&[("TOOLWRIGHT_TOOLS_GET_WEATHER_MAX_WAIT", "5s")]);
    let wait: String = config.get("tools.get_weather.max-wait").unwrap();
    assert_eq!(wait, "5s");
}

#[test]
fn a_variable_of_another_maker_is_found_by_its_own_name() {
    let config = environment(&[("OPENAI_API_KEY", "sk-1")]);
    assert_eq!(config.env_var("OPENAI_API_KEY").unwrap().expose(), "sk-1");
    assert!(config.entries().is_empty());
}

#[test]
fn a_variable_that_no_key_can_reach_is_warned_about() {
    let sources = ConfigSources::new().environment(variables(&[("TOOLWRIGHT_model", "demo")]));
    assert_eq!(
        load(sources).1,
        ["the variable TOOLWRIGHT_model is never read: write TOOLWRIGHT_MODEL"]
    );
}

#[test]
fn of_two_files_the_toml_counts_and_a_warning_names_both() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("toolwright.toml"), "a = 'toml'").unwrap();
    fs::write(directory.path().join("toolwright.properties"), "a=properties").unwrap();
    let loaded = load(ConfigSources::new().directory(directory.path()));
    assert_eq!(loaded.0.get::<String>("a").unwrap(), "toml");
    let [warning] = loaded.1.as_slice() else { panic!("{:?}", loaded.1) };
    assert!(warning.contains("toolwright.toml and "), "{warning}");
    assert!(warning.contains("toolwright.properties are there"), "{warning}");
}

#[test]
fn a_file_that_is_asked_for_replaces_the_one_of_the_directory() {
    let directory = tempfile::tempdir().unwrap();
    let own = directory.path().join("own.properties");
    fs::write(directory.path().join("toolwright.toml"), "a = 'toml'").unwrap();
    fs::write(&own, "b=own").unwrap();
    let config = load(ConfigSources::new().directory(directory.path()).file(own)).0;
    assert_eq!(config.keys_under(""), ["b"]);
}

#[test]
fn a_directory_without_a_file_has_no_settings() {
    let directory = tempfile::tempdir().unwrap();
    let loaded = load(ConfigSources::new().directory(directory.path()));
    assert!(loaded.0.entries().is_empty() && loaded.1.is_empty());
}

#[test]
fn a_file_that_is_asked_for_has_to_be_there() {
    let missing = ConfigSources::new().file("no/such.toml").load();
    assert_eq!(message(missing), "there is no config file no/such.toml: check the path");
}

#[test]
fn a_file_of_another_format_is_refused_by_its_name() {
    for path in ["settings.yaml", "settings", ".toml"] {
        assert_eq!(
            message(ConfigSources::new().file(path).load()),
            format!("cannot tell the format of {path}: end its name with .toml or .properties")
        );
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named_and_the_system_says_why() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("toolwright.toml");
    fs::create_dir(&path).unwrap();
    let error = ConfigSources::new().directory(directory.path()).load().unwrap_err();
    let text = format!("cannot read {}: check that it is a file you may read", path.display());
    assert_eq!(error.to_string(), text);
    assert!(std::error::Error::source(&error).is_some());
}

#[test]
fn a_key_that_is_set_twice_is_warned_about_and_the_later_one_counts() {
    let loaded = written("toolwright.properties", "a=1\nb=2\n\na=3\n");
    assert_eq!(loaded.0.get::<u8>("a").unwrap(), 3);
    assert_eq!(
        loaded.1,
        ["`a` is set twice, at toolwright.properties:1 and again on line 4: the later one counts"]
    );
}

#[test]
fn a_malformed_file_is_named_with_the_line() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("toolwright.properties");
    fs::write(&path, "a=1\n=2").unwrap();
    let error = message(ConfigSources::new().directory(directory.path()).load());
    let problem = "expected a key before the sign, such as `key=value`";
    assert_eq!(error, format!("{}:2: {problem}", path.display()));
}
