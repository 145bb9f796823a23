//! Looks for bytes that break the equation `prefix`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| onrecord_fuzz::replay::prefix(bytes));
