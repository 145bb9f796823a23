//! Looks for bytes that break the equation `replay_of_replay`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| onrecord_fuzz::replay::replay_of_replay(bytes));
