//! Writes the bill of materials of the program, as CycloneDX: what it links and is built with.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::files::{self, read};
use crate::metadata::{ROOT_PACKAGE, list, text};
use crate::process::Program;

/// Writes `toolwright-VERSION-TARGET.cdx.json` into a folder.
pub(crate) fn write(folder: &str, target: &str) -> Result<String, String> {
    let tree = ["--package", ROOT_PACKAGE, "--features", "cluster", "--edges", "normal,build"];
    let tree = Program::cargo("tree", &tree).args(&["--prefix", "depth", "--format", "|{p}|{l}"]);
    let tree = tree.args(&["--target", target]);
    let time = Program::git(&["log", "-1", "--format=%cI"]).stdout()?;
    let bill = bill_of_materials(&tree.stdout()?, &read("Cargo.lock")?, time.trim())?;
    let version =
        bill.pointer("/metadata/component").map_or("", |program| text(program, "version"));
    let json = serde_json::to_string_pretty(&bill).map_err(|error| error.to_string())?;
    files::write(format!("{folder}/toolwright-{version}-{target}.cdx.json"), &json)?;
    Ok(format!("{} components", list(&bill, "components").len()))
}

/// `tree` has a line for each edge: its depth, the name and version, the licence.
fn bill_of_materials(tree: &str, lock: &str, time: &str) -> Result<Value, String> {
    let mut components: BTreeMap<String, Value> = BTreeMap::new();
    let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut path: Vec<String> = Vec::new();
    for line in tree.lines() {
        let unreadable = || format!("`cargo tree` printed `{line}`");
        let [depth, package, licence] =
            line.splitn(3, '|').collect::<Vec<_>>().try_into().map_err(|_| unreadable())?;
        let depth: usize = depth.parse().map_err(|_| unreadable())?;
        let (name, version) = package.split_once(" v").ok_or_else(unreadable)?;
        let version = version.split(' ').next().unwrap_or_default();
        // `A/B` is how some old manifests write `A OR B`; a crate that is shown again has ` (*)` at its end.
        let licence = licence.trim_end_matches(" (*)").replace('/', " OR ");
        if licence.is_empty() {
            return Err(format!("{name} {version} has no licence"));
        }
        let reference = format!("pkg:cargo/{name}@{version}");
        // Crates of the workspace have no checksum.
        let hashes = checksum(lock, name, version);
        let hashes = hashes.map(|sum| json!({ "alg": "SHA-256", "content": sum }));
        let component = json!({
            "type": if depth == 0 { "application" } else { "library" },
            "bom-ref": reference, "purl": reference, "name": name, "version": version,
            "licenses": [{ "expression": licence }], "hashes": hashes.into_iter().collect::<Vec<_>>(),
        });
        components.insert(reference.clone(), component);
        edges.entry(reference.clone()).or_default();
        path.truncate(depth);
        if let Some(parent) = path.last() {
            edges.entry(parent.clone()).or_default().insert(reference.clone());
        }
        path.push(reference);
    }
    let program = path.first().and_then(|reference| components.remove(reference));
    let dependencies = edges.iter().map(|(from, to)| json!({ "ref": from, "dependsOn": to }));
    Ok(json!({
        "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
        "metadata": { "timestamp": time, "component": program },
        "components": components.into_values().collect::<Vec<_>>(),
        "dependencies": dependencies.collect::<Vec<_>>(),
    }))
}

/// The checksum of a package in a lock file.
fn checksum<'l>(lock: &'l str, name: &str, version: &str) -> Option<&'l str> {
    let (_, entry) = lock.split_once(&format!("\nname = \"{name}\"\nversion = \"{version}\"\n"))?;
    let entry = entry.split("[[package]]").next()?;
    entry.split_once("checksum = \"")?.1.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_what_the_program_links_or_is_built_with() {
        let tree = "0|program v1.0.0 (/p)|Apache-2.0\n1|lib v1.0.0|MIT/Apache-2.0\n2|build v2.0.0|MIT\n1|build v2.0.0|MIT (*)\n";
        let lock = "\nname = \"lib\"\nversion = \"1.0.0\"\nchecksum = \"0f\"\n\n[[package]]\nname = \"build\"\nversion = \"2.0.0\"\n";
        let bill = bill_of_materials(tree, lock, "2026-01-01T00:00:00Z").unwrap();
        let at = |pointer| bill.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        assert_eq!(at("/metadata/component/name"), "program");
        assert_eq!((at("/components/0/name"), at("/components/1/name")), ("build", "lib"));
        assert_eq!(at("/components/1/licenses/0/expression"), "MIT OR Apache-2.0");
        assert_eq!(
            (at("/components/0/hashes/0"), at("/components/1/hashes/0/content")),
            ("", "0f")
        );
        let edges = json!({ "ref": "pkg:cargo/program@1.0.0", "dependsOn": ["pkg:cargo/build@2.0.0", "pkg:cargo/lib@1.0.0"] });
        assert_eq!(bill.pointer("/dependencies/2"), Some(&edges));
        assert!(bill_of_materials("0|program v1.0.0|\n", lock, "").is_err());
    }
}
