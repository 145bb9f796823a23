//! Looks for bytes that break the equation `renamed_ids`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| onrecord_fuzz::replay::renamed_ids(bytes));
