//! Looks for bytes that break the equation `fixture`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| onrecord_fuzz::bytes::fixture(bytes));
