//! English words: stop words, words that many tools share, and synonyms.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::stem::stem;

/// Words that do not indicate which tool is meant.
const STOP_WORDS: &str = "a about actually after am an and any anybody anyone anything are as at be been before by can \
    could day did do does doing dear else for from get gets getting give given gives go going got had has have having \
    he hello her here hey hi him his how i i'd i'll i'm i've if in into is isn't it it's its just kindly know let \
    let's like likes long looks may maybe me mean might mine mr mrs much must my need needed needs no not now of off \
    ok okay on one or other our out over per perhaps please put really return returns right same say says shall she \
    should so some something sorry tell than thank thanks that that's the their them then there these they thing \
    think this those to today tomorrow tonight too try under until up us use used uses using very via want wanted \
    wants was we well were what what's when where where's whether which while who who's whom whose why will wish with \
    would yes yesterday yet you you're your yours";

/// Words that many tools share, so that a match is weak evidence for any of them.
const COMMON: &str = "add all amount ask calculate call change check compute convert create current data display fetch \
    file find info information input item latest list look make name new number open output print query read result \
    run search see send set show start stop text type update user value view write";

/// Groups of words with nearly the same meaning in requests to tools.
const SYNONYMS: [&str; 27] = [
    "time clock o'clock hour",
    "date day calendar",
    "temperature warm warmer hot hotter cold colder degree heat cool cooler celsius fahrenheit",
    "weather forecast rain rainy sun sunny snow wind windy umbrella storm cloudy humid warm warmer cold colder hot hotter \
     temperature",
    "thermostat heat temperature warm warmer degree",
    "delete remove erase cancel drop",
    "create add make new open file",
    "find search look seek lookup",
    "list show display see",
    "set change adjust update turn switch modify make",
    "buy purchase order",
    "send mail email",
    "message text note",
    "price cost charge fee",
    "image picture photo",
    "loan borrow lend checkout",
    "refund reimburse repay",
    "status state progress track",
    "ticket issue bug problem",
    "urgent priority critical",
    "convert change turn transform",
    "calculate compute sum math",
    "area size surface",
    "move transfer",
    "fetch download get open read",
    "light lamp",
    "read content open",
];

static STOP_WORD_SET: LazyLock<HashSet<&str>> =
    LazyLock::new(|| STOP_WORDS.split_whitespace().collect());
static COMMON_STEMS: LazyLock<HashSet<String>> =
    LazyLock::new(|| COMMON.split_whitespace().map(stem).collect());
static SYNONYM_STEMS: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(|| {
    let mut groups: HashMap<String, Vec<String>> = HashMap::new();
    for group in SYNONYMS {
        let group: Vec<String> = group.split_whitespace().map(stem).collect();
        for stem in &group {
            let others = group.iter().filter(|other| *other != stem).cloned();
            groups.entry(stem.clone()).or_default().extend(others);
        }
    }
    groups
});

/// Returns true for a word in lower case that does not indicate which tool is meant.
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORD_SET.contains(word)
}

/// Returns true for a stem that many tools share, as that of "create" or "list".
pub fn is_common(stem: &str) -> bool {
    COMMON_STEMS.contains(stem)
}

/// Returns the stems with nearly the same meaning as this one.
pub fn synonyms(stem: &str) -> &'static [String] {
    SYNONYM_STEMS.get(stem).map_or(&[], Vec::as_slice)
}
