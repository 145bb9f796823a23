//! Whether an image can be sent as it is.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use onrecord_spec::record::{Image, ImageSource};

/// How many bytes an image may have: 5 MiB.
const LARGEST: usize = 5 << 20;

/// How much base64 is decoded at a time, to look and not to keep: a multiple of
/// four, the size of a group.
const STRETCH: usize = 4096;

/// An image that can be sent.
#[derive(Debug, Clone, Copy)]
pub(super) enum Seen<'a> {
    /// Its bytes, in whole base64.
    Data {
        /// Its media type.
        media_type: &'a str,
        /// Its base64.
        data: &'a str,
    },
    /// The place where it is. It is data and is never opened.
    Url(&'a str),
}

/// The image, if it can be sent: of a media type that both targets take, whole
/// (bug B225), of a size that they take; or at an address on the web.
pub(super) fn seen(image: &Image) -> Option<Seen<'_>> {
    match &image.source {
        ImageSource::Data(data) => {
            let data = data.as_str()?;
            let media_type = image.media_type.as_str()?;
            let taken =
                matches!(media_type, "image/png" | "image/jpeg" | "image/gif" | "image/webp");
            (taken && is_whole(data)).then_some(Seen::Data { media_type, data })
        }
        ImageSource::Url(url) => {
            let url = url.as_str()?;
            let address = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
            let sound = !address.is_empty() && !address.contains(|c: char| c <= ' ');
            sound.then_some(Seen::Url(url))
        }
    }
}

/// True if the base64 decodes to at least one byte and not to too many. Padding
/// can only stand at the end, so every stretch but the last is full.
fn is_whole(data: &str) -> bool {
    let bytes = data.as_bytes();
    if bytes.is_empty() || bytes.len() / 4 * 3 > LARGEST + 2 {
        return false;
    }
    let mut decoded = [0; STRETCH / 4 * 3];
    let mut total = 0;
    for stretch in bytes.chunks(STRETCH) {
        match STANDARD.decode_slice(stretch, &mut decoded) {
            Ok(length) if total % decoded.len() == 0 => total += length,
            Ok(_) | Err(_) => return false,
        }
    }
    total > 0 && total <= LARGEST
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::*;

    #[test]
    fn base64_is_whole_if_it_decodes_to_some_bytes_and_not_too_many() {
        let full = || "AAAA".repeat(STRETCH / 4);
        let with = |end: &str| full() + end;
        let cases: [(String, bool); 12] = [
            ("AA==".into(), true),
            ("AAA=".into(), true),
            ("".into(), false),
            ("AAAAA".into(), false),
            ("AA=A".into(), false),
            ("AA\nAA".into(), false),
            ("AAé=".into(), false),
            (full(), true),
            (with("AA=="), true),
            // Padding in the middle, at the very end of a stretch.
            ("AAAA".repeat(STRETCH / 4 - 1) + "AA==AAAA", false),
            ("AAAA".repeat(LARGEST / 3) + "AAA=", true),
            ("AAAA".repeat(LARGEST / 3 + 1), false),
        ];
        for (data, whole) in cases {
            assert_eq!(is_whole(&data), whole, "{} bytes", data.len());
        }
    }
}
