//! Looks for bytes that break the equation `follow`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| onrecord_fuzz::view::follow(bytes));
