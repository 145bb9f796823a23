//! Looks for bytes that break the equation `refused_rows`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| onrecord_fuzz::change::refused_rows(bytes));
