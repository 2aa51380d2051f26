//! Link-time discovery of tools.

use toolwright::{AppKind, Registry};

/// An application type.
struct Processor;

/// An application type that is compatible with `Processor`.
#[derive(AppKind)]
#[app_kind(Processor)]
struct ActProcessor;

/// An application type without compatible types.
#[derive(AppKind)]
struct Editor;

mod north {
    use toolwright::{tool, tools};

    /// The last of its module to be written, and so to be found.
    #[tool]
    fn north_z() {}

    /// Comes after the one above, whatever its name.
    #[tool]
    fn north_a() {}

    #[derive(Default)]
    struct Zoo;

    #[tools]
    impl Zoo {
        /// Of a type whose name comes late.
        #[tool]
        fn north_zoo(&self) {}
    }

    #[derive(Default)]
    struct Ark;

    #[tools]
    impl Ark {
        /// Of a type whose name comes early.
        #[tool]
        fn north_ark(&self) {}
    }
}

mod east {
    use toolwright::{tool, tools};

    #[derive(Default)]
    struct Ark;

    #[tools]
    impl Ark {
        /// Of a type that another module has too.
        #[tool]
        fn east_ark(&self) {}
    }

    /// A module's functions come before its types.
    #[tool]
    fn east_function() {}

    struct Manual;

    #[tools(manual)]
    impl Manual {
        /// Is never found.
        #[tool]
        fn east_manual(&self) {}
    }

    #[test]
    fn a_manual_bundle_is_added_by_hand() {
        let registry = toolwright::Registry::new();
        registry.add(Manual).unwrap();
        assert!(registry.get("east_manual").is_some());
    }
}

mod restricted {
    use super::{Editor, Processor};
    use toolwright::tools;

    #[derive(Default)]
    struct ForProcessors;

    #[tools(supported_for(Processor))]
    impl ForProcessors {
        /// Is for processors.
        #[tool]
        fn for_processors(&self) {}
    }

    #[derive(Default)]
    struct ForBoth;

    #[tools(supported_for(Processor, Editor), prefix = "both")]
    impl ForBoth {
        /// Is for processors and editors.
        #[tool]
        fn kinds(&self) {}
    }
}

/// The names that start with one of `beginnings`, in the order of the registry.
fn found(registry: &Registry, beginnings: &[&str]) -> Vec<String> {
    let snapshot = registry.snapshot();
    let names = snapshot.iter().map(|entry| entry.spec().name.to_string());
    names.filter(|name| beginnings.iter().any(|beginning| name.starts_with(beginning))).collect()
}

#[test]
fn bundles_are_found_by_module_then_type_and_functions_as_written() {
    let registry = Registry::discover().unwrap();
    assert_eq!(
        found(&registry, &["north_", "east_"]),
        ["east_function", "east_ark", "north_z", "north_a", "north_ark", "north_zoo",]
    );
}

#[test]
fn free_functions_are_a_bundle_named_after_their_module() {
    let registry = Registry::discover().unwrap();
    let bundle = |name: &str| registry.get(name).unwrap().spec().bundle.to_string();
    assert_eq!(bundle("north_z"), "main::discovery::north");
    assert_eq!(bundle("north_ark"), "main::discovery::north::Ark");
    assert_eq!(bundle("east_ark"), "main::discovery::east::Ark");
}

#[test]
fn a_manual_bundle_is_not_found() {
    let registry = Registry::discover().unwrap();
    assert!(registry.get("east_manual").is_none());
}

#[test]
fn restricted_bundles_are_found_only_for_their_applications() {
    let restricted = ["for_processors", "both_"];
    let unrestricted = Registry::discover().unwrap();
    assert!(found(&unrestricted, &restricted).is_empty());
    let editor = Registry::discover_for::<Editor>().unwrap();
    assert_eq!(found(&editor, &restricted), ["both_kinds"]);
    let act = Registry::discover_for::<ActProcessor>().unwrap();
    assert_eq!(found(&act, &restricted), ["both_kinds", "for_processors"]);
    assert!(act.get("north_z").is_some());
}
