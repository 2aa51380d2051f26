//! The groups `MCP.*`: attached by the vendor if it supports that, else by the program.

use std::io::Write as _;
use std::net::SocketAddr;
use std::process::Stdio;

use tokio::runtime::Runtime;
use toolwright::{Invoker, Registry, tools};
use toolwright_mcp::McpServer;

use super::{TOOLWRIGHT, TestProject, run_command};
use crate::vendor::{MockAnswer, MockVendor};

/// Discovery does not find it, because other tests discover the tools of the assistant.
struct Wiki;

#[tools(manual)]
impl Wiki {
    /// Looks up a word in a wiki.
    #[tool(read_only)]
    fn define(word: String) -> String {
        format!("{word}: see elsewhere")
    }
}

/// A local MCP server, until its runtime is dropped.
fn wiki() -> (Runtime, SocketAddr) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let registry = Registry::new();
    registry.add(Wiki).unwrap();
    let server = McpServer::builder(Invoker::new(&registry).unwrap());
    let server = server.build().unwrap();
    let bound = runtime.block_on(server.bind("127.0.0.1:0".parse().unwrap()));
    let bound = bound.unwrap();
    let addr = bound.addr();
    runtime.spawn(async move { bound.run(std::future::pending()).await });
    (runtime, addr)
}

fn project(addr: SocketAddr, mode: &str) -> TestProject {
    TestProject::with(&format!(
        "[MCP_1]\nname = \"My wiki\"\nurl = \"http://{addr}/mcp\"\nmode = \"{mode}\"\n"
    ))
}

#[test]
fn without_a_vendor_that_hosts_a_group_is_ours() {
    let (_runtime, addr) = wiki();
    for (mode, ours) in [("auto", true), ("client", true), ("hosted", false)] {
        let project = project(addr, mode);
        let listed = project.run(&["tools", "list"]);
        assert_eq!(listed.code, Some(0), "{listed:?}");
        assert_eq!(listed.out.contains("My_wiki_define"), ours, "{mode}: {listed:?}");
        let ask = ["chat", "--model", "demo", "--yes", "--once", "Define the word `owl`"];
        let asked = project.run(&ask);
        assert_eq!(asked.code, Some(0), "{asked:?}");
        assert_eq!(asked.err.contains("→ My_wiki_define"), ours, "{mode}: {asked:?}");
        let warned = asked.err.contains("has no hosted MCP servers (`My wiki`)");
        assert_eq!(warned, !ours, "{mode}: {asked:?}");
    }
}

#[test]
fn a_group_becomes_ours_with_a_model_whose_vendor_does_not_host() {
    let (_runtime, addr) = wiki();
    let project = project(addr, "auto");
    let mut command = project.command(TOOLWRIGHT);
    command.env("OPENAI_API_KEY", "a key");
    command.args(["chat", "--model", "openai:test", "--store", "memory:", "--yes"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let lines = "/tools\n/model demo\nDefine the word `owl`\n/tools\n";
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout), String::from_utf8(output.stderr));
    let (out, err) = (out.unwrap(), err.unwrap());
    assert!(output.status.success(), "{out}{err}");
    assert_eq!(out.matches("  My_wiki_define ").count(), 1, "{out}{err}");
    assert!(err.contains("→ My_wiki_define"), "{out}{err}");
}

#[test]
fn a_vendor_that_hosts_is_given_the_group_unless_it_is_ours() {
    let (_runtime, addr) = wiki();
    for (mode, hosted) in [("auto", true), ("hosted", true), ("client", false)] {
        let vendor = MockVendor::answering([MockAnswer::Error(400, "not today")]);
        let project = project(addr, mode);
        let mut command = project.command(TOOLWRIGHT);
        command.env("OPENAI_BASE_URL", &vendor.base).env("OPENAI_API_KEY", "a key");
        command.args(["chat", "--model", "openai:test", "--once", "Hi"]);
        let asked = run_command(&mut command);
        assert_eq!(asked.code, Some(1), "{asked:?}");
        let request = vendor.asked();
        let tools = request["tools"].as_array().unwrap();
        let given = tools.iter().any(|tool| tool["type"] == "mcp");
        let ours = tools.iter().any(|tool| tool["name"] == "My_wiki_define");
        assert_eq!((given, ours), (hosted, !hosted), "{mode}: {request}");
    }
}
