//! Looks for bytes that break the equation `lift_anthropic`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| onrecord_fuzz::bytes::lift_anthropic(bytes));
