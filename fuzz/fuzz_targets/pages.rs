//! Looks for bytes that break the equation `pages`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| onrecord_fuzz::view::pages(bytes));
