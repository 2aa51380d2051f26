//! Settings are read from environment variables.

use toolwright::telemetry::{TelemetryError, TelemetrySettings};

fn read(variables: &[(&str, &str)]) -> Result<TelemetrySettings, TelemetryError> {
    TelemetrySettings::from_variables(|name| {
        let found = variables.iter().find(|(variable, _)| *variable == name);
        found.map(|(_, value)| (*value).to_owned())
    })
}

fn address(variables: &[(&str, &str)]) -> Option<String> {
    let settings = read(variables).expect("the variables are right");
    settings.endpoint_url().map(str::to_owned)
}

const ENDPOINT: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318");

#[test]
fn the_path_of_traces_is_appended_to_the_base_url() {
    let expected = Some("http://collector:4318/v1/traces".to_owned());
    assert_eq!(address(&[ENDPOINT]), expected);
    let slash = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318/");
    assert_eq!(address(&[slash]), expected);
}

#[test]
fn the_url_of_traces_is_used_unchanged() {
    let traces = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://a.example/in");
    let expected = Some("https://a.example/in".to_owned());
    assert_eq!(address(&[ENDPOINT, traces]), expected);
}

#[test]
fn without_a_url_nothing_is_exported() {
    assert_eq!(address(&[]), None);
    assert_eq!(address(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "")]), None);
    // Nor is there an error: the other variables may be for other programs.
    assert_eq!(address(&[("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]), None);
}

#[test]
fn the_export_can_be_disabled() {
    assert_eq!(address(&[ENDPOINT, ("OTEL_TRACES_EXPORTER", "none")]), None);
    assert_eq!(address(&[ENDPOINT, ("OTEL_SDK_DISABLED", "True")]), None);
}

#[test]
fn an_unsupported_value_is_refused_by_name() {
    let refused = |name, value| {
        let refused = read(&[ENDPOINT, (name, value)]).expect_err("the value is unsupported");
        refused.to_string()
    };
    assert_eq!(
        refused("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        "`OTEL_EXPORTER_OTLP_PROTOCOL` is `grpc`; only `http/protobuf` is possible here"
    );
    assert_eq!(
        refused("OTEL_TRACES_EXPORTER", "zipkin"),
        "`OTEL_TRACES_EXPORTER` is `zipkin`; only `otlp` or `none` is possible here"
    );
    assert_eq!(
        refused("OTEL_EXPORTER_OTLP_TIMEOUT", "soon"),
        "`OTEL_EXPORTER_OTLP_TIMEOUT` is `soon`; only a number of milliseconds is possible here"
    );
}

#[test]
fn keys_are_not_shown() {
    let settings = TelemetrySettings::new()
        .endpoint("https://user:secret@collector/")
        .header("x-key", "secret");
    let shown = format!("{settings:?}");
    assert!(shown.contains("x-key") && !shown.contains("secret"));
}
