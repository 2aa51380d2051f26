//! A thousand tool definitions in the styles of people and generators, or any number of them, the same in every run.

mod generated;
mod handwritten;

use serde_json::Value;

/// One tool as a host would register it.
#[derive(Clone)]
pub struct ToolSample {
    /// Unique in the catalogue.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The schema of its arguments.
    pub input: Value,
}

/// What one definition is about.
struct SchemaTopic {
    number: usize,
    area: &'static str,
    noun: &'static str,
}

type SchemaFamily = (&'static str, fn(&SchemaTopic) -> Value);

const SCHEMA_FAMILIES: [SchemaFamily; 13] = [
    ("get", handwritten::lookup),
    ("create", handwritten::crud),
    ("search", handwritten::search),
    ("upload", handwritten::files),
    ("schedule", handwritten::calendar),
    ("pay", handwritten::payment),
    ("configure", handwritten::config),
    ("label", handwritten::maps),
    ("route", handwritten::tuples),
    ("filter", handwritten::recursive),
    ("import", generated::schemars),
    ("analyse", generated::pydantic),
    ("notify", generated::zod),
];

const AREAS: [&str; 4] = ["sales", "support", "finance", "logistics"];

const NOUNS: [&str; 21] = [
    "account",
    "campaign",
    "contract",
    "customer",
    "delivery",
    "device",
    "document",
    "employee",
    "event",
    "expense",
    "incident",
    "invoice",
    "lead",
    "order",
    "parcel",
    "product",
    "project",
    "refund",
    "shipment",
    "subscription",
    "ticket",
];

const TOOL_COUNT: usize = 1_000;

/// All thousand definitions, the families in turn.
pub fn tools() -> Vec<ToolSample> {
    let topics = NOUNS.into_iter().flat_map(|noun| AREAS.map(|area| (area, noun)));
    let pairs = topics.flat_map(|topic| SCHEMA_FAMILIES.map(|family| (topic, family)));
    let samples = pairs.enumerate().map(|(number, ((area, noun), (verb, make)))| {
        let topic = SchemaTopic { number, area, noun };
        let mut input = make(&topic);
        topic.drop_optional_properties(&mut input);
        ToolSample {
            name: format!("{area}_{verb}_{noun}"),
            description: format!("Lets {area} {verb} a {noun}, and says what became of it."),
            input,
        }
    });
    samples.take(TOOL_COUNT).collect()
}

/// Any number of definitions: the thousand, again and again, each with two made-up words of its own.
pub fn many_tools(count: usize) -> Vec<ToolSample> {
    let samples = tools();
    let numbered = samples.iter().cycle().take(count).enumerate();
    let tools = numbered.map(|(number, sample)| {
        let (one, other) = (made_up_word(number), made_up_word(number * 7 + 3));
        ToolSample {
            name: format!("{}_{one}", sample.name),
            description: format!("{} For {one} and {other}.", sample.description),
            input: sample.input.clone(),
        }
    });
    tools.collect()
}

fn made_up_word(number: usize) -> String {
    const SYLLABLES: [&str; 16] = [
        "ka", "lor", "mi", "ten", "su", "ral", "vo", "pin", "de", "gru", "ha", "sel", "wo", "bri",
        "ne", "fal",
    ];
    let syllable = |shift: usize| SYLLABLES.get((number >> shift) % SYLLABLES.len()).unwrap();
    [12, 8, 4, 0].into_iter().map(|shift| *syllable(shift)).collect()
}

impl SchemaTopic {
    /// Omits some of the optional arguments, so that all tools of a family differ.
    fn drop_optional_properties(&self, schema: &mut Value) {
        let required = schema["required"].clone();
        let required: Vec<&str> =
            required.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let Some(properties) = schema["properties"].as_object_mut() else {
            return;
        };
        let mut left = properties.len();
        let mut place = 0;
        properties.retain(|name, part| {
            place += 1;
            // Generators do not write unused definitions.
            let may_go = left > 4
                && !required.contains(&name.as_str())
                && !part.to_string().contains("$ref");
            let goes = may_go && self.pseudo_random(place).is_multiple_of(4);
            left -= usize::from(goes);
            !goes
        });
    }

    /// The first few of a list: at least two.
    fn take_prefix<'a>(&self, all: &'a [&'a str]) -> &'a [&'a str] {
        let count = 2 + self.pseudo_random(all.len()) % (all.len() - 1);
        all.get(..count).unwrap_or(all)
    }

    /// A pseudo-random number, the same in every run.
    fn pseudo_random(&self, salt: usize) -> usize {
        let mixed = (self.number * 31 + salt).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed >> 40
    }
}
