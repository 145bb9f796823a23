//! Looks for bytes that break the equation `unrelated_rows`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| onrecord_fuzz::replay::unrelated_rows(bytes));
