//! The files of `deploy` are valid, and fit to the server: its probes, its drain, its settings and its metrics.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use test_support::real;

fn deploy() -> PathBuf {
    real::root().join("deploy")
}

/// The manifests of Kubernetes and the Compose file as JSON, once their schemas are checked; `None` without the validators.
fn checked_files() -> Option<Value> {
    if !real::is_installed() {
        return None;
    }
    let scratch = tempfile::tempdir().unwrap();
    let folders = [deploy(), scratch.path().to_owned()];
    let folders: Vec<&str> = folders.iter().map(|folder| folder.to_str().unwrap()).collect();
    let printed = real::python("check_deploy.py", &folders);
    let (files, end) = printed.trim_end().rsplit_once('\n').expect("two lines");
    assert_eq!(end, "all well");
    Some(serde_json::from_str(files).unwrap())
}

/// All objects under this key, at any depth.
fn find_all<'a>(value: &'a Value, key: &str, found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get(key));
            fields.values().for_each(|value| find_all(value, key, found));
        }
        Value::Array(items) => items.iter().for_each(|item| find_all(item, key, found)),
        _ => {}
    }
}

#[test]
fn the_manifests_are_valid_and_leave_a_node_the_time_to_drain() {
    let Some(files) = checked_files() else {
        return;
    };
    let pod = &files["manifests"][0]["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    let grace = pod["terminationGracePeriodSeconds"].as_u64().unwrap();
    let pause = container["lifecycle"]["preStop"]["sleep"]["seconds"].as_u64().unwrap();
    let limits = toolwright::server::ServerLimits::default();
    // Turns may take that long to end, and then connections; leases are released in between.
    let drain = 2 * limits.shutdown_grace.as_secs() + 2;
    assert!(grace > pause + drain, "{grace} s are not longer than {pause} s and {drain} s");
    for (probe, path) in [("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")] {
        assert_eq!(container[probe]["httpGet"]["path"], path);
        // Another host is rejected.
        assert_eq!(container[probe]["httpGet"]["httpHeaders"][0]["value"], "localhost");
    }
    let variables: Vec<&str> = container["env"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    for variable in ["TOOLWRIGHT_STORE", "TOOLWRIGHT_CLUSTER_BUS", "TOOLWRIGHT_SERVER_TOKEN"] {
        assert!(variables.contains(&variable), "{variables:?}");
        let node = &files["compose"]["services"]["node"]["environment"];
        assert!(node.get(variable).is_some(), "{variable}: {node}");
    }
    // No secret is written down.
    let mut secrets = Vec::new();
    find_all(&files["manifests"], "stringData", &mut secrets);
    find_all(&files["manifests"], "data", &mut secrets);
    assert!(secrets.is_empty(), "{secrets:?}");
}

#[test]
fn prometheus_scrapes_every_node_with_a_token() {
    let Some(files) = checked_files() else {
        return;
    };
    let template = &files["manifests"][0]["spec"]["template"];
    // An annotation has no place for a token, without which every scrape fails.
    assert!(template["metadata"].get("annotations").is_none(), "{template}");
    let jobs = files["prometheus"]["scrape_configs"].as_array().unwrap();
    assert_eq!(jobs.len(), 2);
    for job in jobs {
        assert_eq!(job["metrics_path"], "/metrics");
        assert_eq!(job["authorization"]["type"], "Bearer");
        assert!(job["authorization"]["credentials_file"].is_string(), "{job}");
    }
    assert!(files["compose"]["services"].get("node").is_some());
    assert_eq!(jobs[0]["dns_sd_configs"][0]["names"][0], "node");
    assert_eq!(jobs[0]["dns_sd_configs"][0]["port"], 8787);
    let labels = template["metadata"]["labels"].as_object().unwrap();
    let (name, value) = labels.iter().next().unwrap();
    let selected = &jobs[1]["kubernetes_sd_configs"][0]["selectors"][0]["label"];
    assert_eq!(*selected, format!("{name}={}", value.as_str().unwrap()));
    assert_eq!(template["spec"]["containers"][0]["ports"][0]["name"], "http");
}

#[test]
fn haproxy_reads_the_settings_of_the_balancer() {
    let Some(program) = real::debian_program("haproxy") else { return };
    let settings = deploy().join("haproxy.cfg");
    let output = Command::new(program).arg("-c").arg("-f").arg(settings).output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
}

#[test]
fn the_dashboard_has_every_panel_of_one_data_source() {
    let text = std::fs::read_to_string(deploy().join("grafana/toolwright.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&text).unwrap();
    let mut expressions = Vec::new();
    find_all(&dashboard, "expr", &mut expressions);
    assert!(expressions.len() > 20, "{}", expressions.len());
    let mut identifiers = Vec::new();
    find_all(&dashboard["panels"], "id", &mut identifiers);
    let unique: BTreeSet<u64> = identifiers.iter().map(|id| id.as_u64().unwrap()).collect();
    assert_eq!(unique.len(), identifiers.len(), "two panels have the same id");
    let mut sources = Vec::new();
    find_all(&dashboard["panels"], "uid", &mut sources);
    assert!(sources.iter().all(|source| **source == "${datasource}"), "{sources:?}");
}

/// The arguments of an instruction of the Dockerfile, one entry per line with it.
fn instructions<'t>(dockerfile: &'t str, name: &str) -> Vec<&'t str> {
    dockerfile.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).collect()
}

#[test]
fn the_image_is_built_in_two_stages_and_runs_without_root() {
    let dockerfile = std::fs::read_to_string(deploy().join("Dockerfile")).unwrap();
    let stages = instructions(&dockerfile, "FROM");
    assert_eq!(stages.len(), 2, "{stages:?}");
    assert!(stages[1].starts_with("debian:") && stages[1].ends_with("-slim"), "{stages:?}");
    let manifest = std::fs::read_to_string(real::root().join("Cargo.toml")).unwrap();
    let rust = manifest.lines().find_map(|line| line.strip_prefix("rust-version = ")).unwrap();
    assert!(stages[0].starts_with(&format!("rust:{}-", rust.trim_matches('"'))), "{stages:?}");
    let user: u32 = instructions(&dockerfile, "USER").last().unwrap().parse().expect("a number");
    assert!(user > 0);
    assert_eq!(instructions(&dockerfile, "STOPSIGNAL"), ["SIGTERM"]);
}

#[test]
fn the_health_check_of_the_image_tells_a_server_from_none() {
    let dockerfile = std::fs::read_to_string(deploy().join("Dockerfile")).unwrap();
    let check = instructions(&dockerfile, "HEALTHCHECK")[0];
    let (_, command) = check.split_once("CMD ").unwrap();
    let command: Vec<String> = serde_json::from_str(command).expect("the form with brackets");
    let run = |port: u16| {
        let script = command[2].replace("/8787", &format!("/{port}"));
        Command::new(&command[0]).args(["-c", &script]).output().unwrap().status.success()
    };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        ["200 OK", "503 Service Unavailable"].map(|status| {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                std::io::Read::read_exact(&mut stream, &mut byte).unwrap();
                request.extend(byte);
            }
            let response = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
            std::io::Write::write_all(&mut stream, response.as_bytes()).unwrap();
            String::from_utf8(request).unwrap()
        })
    });
    assert!(run(port), "healthy");
    assert!(!run(port), "the server answers with an error");
    let requests = server.join().unwrap();
    assert!(
        requests[0].starts_with("GET /healthz HTTP/1.1\r\nhost: localhost\r\n"),
        "{requests:?}"
    );
    assert!(!run(port), "there is no server any more");
}
