//! Looks for bytes that break the equation `vision`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| onrecord_fuzz::replay::vision(bytes));
