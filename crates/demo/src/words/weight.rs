//! How much a word says: nothing, little, or that something said before is meant.

use super::Text;

/// Words that tell nothing about which tool is meant.
const STOPS: &str = " a about actually after am an and any anybody anyone anything are as at be been before by can \
    could day did do does doing dear does else for from get gets getting give given gives go going got had has have \
    having he hello her here hey hi him his how i i'd i'll i'm i've if in into is isn't it it's its just kindly know \
    let let's like likes long looks may maybe me mean might mine mr mrs much must my need needed needs no not now of \
    off ok okay on one or other our out over per perhaps please put really return returns right same say says shall \
    she should so some something sorry tell than thank thanks that that's the their them then there these they thing \
    think this those to today tomorrow tonight too try under until up us use used uses using very via want wanted \
    wants was we well were what what's when where where's whether which while who who's whom whose why will wish with \
    would yes yesterday yet you you're your yours ";

/// Stems of words that many tools share: alone they are a hint, not more.
const WEAK: &str = " add all amount ask calculat call chang check comput convert creat current data display fetch file \
    fil find info information input item latest list look mak nam new number open output print query read result run \
    search see send set show start stop text typ updat user valu view writ ";

/// Tells whether a word in lower case says nothing.
pub(crate) fn is_stop(lower: &str) -> bool {
    listed(STOPS, lower)
}

/// Tells whether a stem says little.
pub(crate) fn is_weak(stem: &str) -> bool {
    listed(WEAK, stem)
}

/// Tells whether a word adds nothing to what is asked.
pub(crate) fn is_polite(lower: &str) -> bool {
    matches!(
        lower,
        "good"
            | "quick"
            | "quickly"
            | "currently"
            | "exactly"
            | "degrees"
            | "degree"
            | "first"
            | "outside"
    )
}

fn listed(list: &str, word: &str) -> bool {
    let at = list.match_indices(word).any(|(at, _)| {
        let before = list.get(..at).is_some_and(|before| before.ends_with(' '));
        let after = list
            .get(at + word.len()..)
            .is_some_and(|after| after.starts_with(' '));
        before && after
    });
    at && !word.is_empty() && !word.contains(' ')
}

/// Tells whether a text leans on what was said before: `there`, `convert that`, `and in London`.
pub(crate) fn leans(text: &Text<'_>) -> bool {
    let words = &text.words;
    let is_lead = |place: usize, said: &[&str]| words.get(place).is_some_and(|word| word.is(said));
    if is_lead(0, &["and", "also", "then"])
        || is_lead(0, &["what", "how"]) && is_lead(1, &["about"])
    {
        return true;
    }
    words.iter().enumerate().any(|(place, word)| {
        // "What time is it" and "is there" mean nothing that was said.
        let empty = || {
            place.checked_sub(1).is_some_and(|before| {
                is_lead(
                    before,
                    &["is", "was", "are", "were", "does", "will", "would", "has"],
                )
            }) || is_lead(place + 1, &["is", "are", "was", "will", "'s"])
        };
        !word.quoted
            && (word.is(&[
                "that", "that's", "this", "those", "these", "them", "same", "again", "result",
                "its", "previous", "last",
            ]) || word.is(&["it", "there"]) && !empty()
                || word.is(&["the"])
                    && is_lead(
                        place + 1,
                        &["temperature", "value", "amount", "number", "total", "sum"],
                    ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leans_on_something_said_is_told_from_what_does_not() {
        for text in [
            "And the weather there?",
            "convert it to F",
            "what about London",
        ] {
            assert!(leans(&Text::new(text)), "{text}");
        }
        for text in ["What time is it?", "Is there rain in Paris?", "\"that\""] {
            assert!(!leans(&Text::new(text)), "{text}");
        }
    }
}
