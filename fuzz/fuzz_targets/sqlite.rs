//! Looks for bytes that break the equation `sqlite`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| onrecord_fuzz::store::sqlite(bytes));
