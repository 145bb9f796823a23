//! Looks for bytes that break the equation `answer`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| onrecord_fuzz::bytes::answer(bytes));
