//! Looks for bytes that break the equation `compact_and_append`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| onrecord_fuzz::change::compact_and_append(bytes));
