//! Looks for bytes that break the equation `restart`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| onrecord_fuzz::change::restart(bytes));
