//! The reference: one way to keep a conversation.
#![no_std]
