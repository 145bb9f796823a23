//! Looks for bytes that break the equation `rules`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| onrecord_fuzz::change::rules(bytes));
