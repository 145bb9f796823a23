//! Looks for bytes that break the equation `row`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| onrecord_fuzz::bytes::row(bytes));
