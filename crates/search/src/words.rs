//! Splits text and identifiers into words, in any script.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// Splits text or an identifier into words in lower case, without accents and without a possessive `'s`.
///
/// Identifiers are split at case and punctuation. A script without spaces is split into pairs of neighbouring characters, and
/// so are Korean words, whose particles have no spaces either.
///
/// # Examples
///
/// ```
/// use toolwright::search::words;
///
/// assert_eq!(words("getUserName"), ["get", "user", "name"]);
/// assert_eq!(words("Météo d'aujourd’hui"), ["meteo", "d'aujourd'hui"]);
/// assert_eq!(words("東京の天気"), ["東京", "京の", "の天", "天気"]);
/// ```
pub fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for_each_word(text, |word| words.push(word.to_owned()));
    words
}

/// Calls a function with each of the [`words`].
pub(crate) fn for_each_word(text: &str, mut each: impl FnMut(&str)) {
    if text.is_ascii() {
        split(text, &mut each);
    } else {
        split(&fold(text), &mut each);
    }
}

fn split(text: &str, each: &mut impl FnMut(&str)) {
    let mut word = String::new();
    let mut unspaced: Vec<char> = Vec::new();
    let mut previous = ' ';
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if is_unspaced(letter) {
            end_word(&mut word, each);
            unspaced.push(letter);
            previous = letter;
            continue;
        }
        end_run(&mut unspaced, each);
        let in_word = letter.is_alphanumeric() || letter == '\'' || is_mark(letter);
        let is_boundary = letter.is_uppercase()
            && (previous.is_lowercase() || previous.is_uppercase() && starts_word(letters.clone()));
        if !in_word || is_boundary {
            end_word(&mut word, each);
        }
        match in_word {
            true if letter.is_ascii() => word.push(letter.to_ascii_lowercase()),
            true => word.extend(letter.to_lowercase()),
            false => {}
        }
        previous = letter;
    }
    end_word(&mut word, each);
    end_run(&mut unspaced, each);
}

fn is_mark(letter: char) -> bool {
    !letter.is_ascii() && is_combining_mark(letter)
}

/// Returns true if an upper-case letter after another begins a word: `HTTPServer`, but not `PDFs`.
fn starts_word(mut next: impl Iterator<Item = char>) -> bool {
    match (next.next(), next.next()) {
        (Some('s'), following) => following.is_some_and(char::is_lowercase),
        (Some(letter), _) => letter.is_lowercase(),
        (None, _) => false,
    }
}

fn end_word(word: &mut String, each: &mut impl FnMut(&str)) {
    if !word.is_empty() {
        let bare = word.trim_end_matches("'s").trim_matches('\'');
        if !bare.is_empty() {
            each(bare);
        }
        word.clear();
    }
}

/// Reports the pairs of neighbours of a run, or its only character.
fn end_run(run: &mut Vec<char>, each: &mut impl FnMut(&str)) {
    let mut pair = String::new();
    for letters in run.windows(run.len().clamp(1, 2)) {
        pair.clear();
        pair.extend(letters);
        each(&pair);
    }
    run.clear();
}

/// Removes differences that people do not type consistently: accents, full-width forms, ligatures, typographic apostrophes,
/// and invisible joiners.
fn fold(text: &str) -> String {
    let mut base = ' ';
    let folded = text.nfkd().filter_map(move |letter| match letter {
        // `й` is a letter of its own, not an accented `и`.
        '\u{306}' if is_cyrillic(base) => Some(letter),
        '\u{300}'..='\u{36F}' | '\u{200C}' | '\u{200D}' => None,
        '’' => Some('\''),
        letter => {
            base = letter;
            Some(letter)
        }
    });
    folded.nfc().collect()
}

fn is_cyrillic(letter: char) -> bool {
    ('\u{400}'..='\u{52F}').contains(&letter)
}

/// Returns true for a letter of a script that is written without spaces, and for Korean syllables.
fn is_unspaced(letter: char) -> bool {
    matches!(letter,
        '\u{E00}'..='\u{EFF}' // Thai, Lao
        | '\u{1000}'..='\u{109F}' // Myanmar
        | '\u{1780}'..='\u{17FF}' // Khmer
        | '\u{3005}'..='\u{3007}'
        | '\u{3041}'..='\u{30FF}' // Hiragana, Katakana
        | '\u{31F0}'..='\u{31FF}'
        | '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}' // Han
        | '\u{AC00}'..='\u{D7AF}' // Hangul
        | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{3FFFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_split_into_words() {
        for name in
            ["getUserName", "get_user-name", "Get user name", "get.user/name", "GetUSERName"]
        {
            assert_eq!(words(name), ["get", "user", "name"], "{name}");
        }
        assert_eq!(words("parseHTTPResponse"), ["parse", "http", "response"]);
        assert_eq!(words("PDFs and IDs, base64"), ["pdfs", "and", "ids", "base64"]);
        assert_eq!(words("Ada's 'quoted' don't"), ["ada", "quoted", "don't"]);
    }

    #[test]
    fn accents_and_full_width_letters_are_folded() {
        assert_eq!(words("Prévisions météo à Zürich"), ["previsions", "meteo", "a", "zurich"]);
        assert_eq!(words("ｗｅａｔｈｅｒ"), ["weather"]);
        assert_eq!(words("Какой сейчас"), ["какой", "сейчас"]);
        assert_eq!(words("obtenirMétéo"), ["obtenir", "meteo"]);
    }

    #[test]
    fn words_of_indic_scripts_keep_their_marks() {
        assert_eq!(words("मुंबई का मौसम"), ["मुंबई", "का", "मौसम"]);
        assert_eq!(words("संस्कृत"), ["संस्कृत"]);
    }

    #[test]
    fn scripts_without_spaces_become_pairs() {
        assert_eq!(words("天气"), ["天气"]);
        assert_eq!(words("雨"), ["雨"]);
        assert_eq!(words("API天気予報v2"), ["api", "天気", "気予", "予報", "v2"]);
        assert_eq!(words("날씨를 알려줘"), ["날씨", "씨를", "알려", "려줘"]);
        assert_eq!(words("อากาศ").len(), 4);
    }
}
