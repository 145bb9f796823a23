//! Small things about text that people read: what may be printed, and how a
//! command is written so that a shell takes it.

use std::fmt::Write as _;

/// The text with every control character and every invisible direction mark
/// written as an escape, so that what an adapter or a log says cannot move the
/// cursor, colour the screen or hide in it. Line breaks and tabs are escaped too.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            _ if is_hidden(c) => {
                // Writing to a `String` cannot fail.
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
            }
            _ => shown.push(c),
        }
    }
    shown
}

/// As [`visible`], with line breaks and tabs left as they are.
#[must_use]
pub fn visible_lines(text: &str) -> String {
    text.split('\n')
        .map(|line| line.split('\t').map(visible).collect::<Vec<_>>().join("\t"))
        .collect::<Vec<_>>()
        .join("\n")
}

fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

/// The beginning of a text, at most `most` characters, made visible.
#[must_use]
pub fn excerpt(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", visible(&text[..end])),
        None => visible(text),
    }
}

/// A command as a shell takes it.
#[must_use]
pub fn shell(words: &[String]) -> String {
    let quote = |word: &String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// `1 check`, `2 checks`.
#[must_use]
pub fn count(number: usize, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_printed_can_steer_a_terminal() {
        for (text, shown) in [
            ("plain é 😀", "plain é 😀"),
            ("\u{1b}[31mred\u{7}", "\\u{1b}[31mred\\u{7}"),
            ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
            ("\u{202e}gpj.exe\u{9b}1m", "\\u{202e}gpj.exe\\u{9b}1m"),
        ] {
            assert_eq!(visible(text), shown);
        }
        assert_eq!(visible_lines("a\n\tb\u{1b}c"), "a\n\tb\\u{1b}c");
        assert_eq!(excerpt("abc\u{1b}def", 4), "abc\\u{1b}…");
    }

    #[test]
    fn a_command_survives_a_shell() {
        let words = ["python3", "my adapter.py", "it's", "", "--a=b"].map(String::from);
        assert_eq!(shell(&words), r"python3 'my adapter.py' 'it'\''s' '' --a=b");
    }
}
