//! Looks for bytes that break the equation `split_writes`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| onrecord_fuzz::change::split_writes(bytes));
