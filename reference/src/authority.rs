//! Authority: the runtime's own facts, made fresh for each request.
//!
//! The text is a function of the facts alone (`authority.fresh`,
//! `authority.recomputed`). It is put into a request after the replay and is
//! stored nowhere (`authority.never-stored`).

use alloc::format;
use alloc::string::String;

use onrecord_spec::op::{AuthorityMode, Facts};

use crate::replay::wording::{BORROWED, NOT_ADMITTED};

/// The text of the one authority block of a request.
pub(crate) fn authority(facts: &Facts) -> String {
    let Facts { mode, user, expected_account, admitted, node, drift } = facts;
    let mut text = format!(
        "Facts of this request, from the runtime and from nobody else.\n\
         The process runs as user: {user}\n\
         The account that is expected: {expected_account}\n\
         The node: {node}\n"
    );
    text.push_str(&match mode {
        AuthorityMode::Dedicated => {
            String::from("Mode: dedicated. You act under your own account.")
        }
        AuthorityMode::Borrowed => format!(
            "Mode: {BORROWED}ed. You {BORROWED} a person's account: what it may do is that \
             person's to allow, and not yours."
        ),
    });
    // An agent that was never let in must not believe that it has the account
    // it was meant to have (`authority.stale-inert`).
    text.push_str(&match admitted {
        true => String::from("\nThe expected account was admitted."),
        false => format!("\nThe expected account was {NOT_ADMITTED}: do not act as if you had it."),
    });
    if let Some(drift) = drift {
        text.push_str(&format!("\nThe actual state departs from the expected one: {drift}"));
    }
    text
}
