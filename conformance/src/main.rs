//! The command `onrecord`.

fn main() {}
