//! The store on SQLite beside the reference.

use std::cell::RefCell;

use onrecord::Reference;
use onrecord::generate::Conversation;
use onrecord::spec::json::to_line;
use onrecord::spec::op::{Implementation, Op, Outcome};
use onrecord::spec::text::Text;
use onrecord_sqlite::SqliteStore;

/// A store, in a folder that goes when it is done.
struct Kept {
    store: SqliteStore,
    _folder: tempfile::TempDir,
}

thread_local! {
    /// One store for all runs: each begins with a load, which forgets everything.
    static KEPT: RefCell<Option<Kept>> = const { RefCell::new(None) };
}

/// Whatever is asked, the two answer alike.
pub fn sqlite(bytes: &[u8]) {
    let conversation = Conversation::of_bytes(bytes);
    let trace = conversation.ask(8, &mut Reference::new()).unwrap();
    KEPT.with_borrow_mut(|kept| {
        let kept = kept.get_or_insert_with(|| {
            let folder = tempfile::tempdir().unwrap();
            let store = SqliteStore::open(&folder.path().join("store.sqlite")).unwrap();
            Kept { store, _folder: folder }
        });
        let mut cursor = None;
        for (at, step) in trace.steps.iter().enumerate() {
            // Each has cursors of its own.
            let op = match &step.op {
                Op::Page { limit, before: Some(_) } => {
                    Op::Page { limit: *limit, before: cursor.clone() }
                }
                op => op.clone(),
            };
            let outcome = kept.store.perform(&op).unwrap();
            if let Outcome::Page(page) = &outcome {
                cursor.clone_from(&page.before);
            }
            let (ours, due) = (comparable(outcome), comparable(step.outcome.clone()));
            assert_eq!(ours, due, "step {at}: {}", to_line(&step.op).unwrap());
        }
    });
}

/// An outcome without what is an implementation's own: cursors, stamps, words, and the
/// order of hits.
fn comparable(mut outcome: Outcome) -> String {
    if let Outcome::Page(page) = &mut outcome {
        page.before = page.before.take().map(|_| Text::from("cursor"));
    } else if let Outcome::Stamp(stamp) = &mut outcome {
        (stamp.epoch, stamp.version) = (Text::default(), 0);
    } else if let Outcome::Synced(synced) = &mut outcome {
        if let Some(stamp) = &mut synced.cached {
            (stamp.epoch, stamp.version) = (Text::default(), 0);
        }
    } else if let Outcome::Recalled { hits } = &mut outcome {
        hits.sort_by_key(|hit| to_line(hit).unwrap());
    } else if let Outcome::Migrated(migrated) = &mut outcome {
        // A start that died had brought back some rows, or none.
        migrated.returned = 0;
    } else if let Outcome::Refused(refusal) = &mut outcome {
        refusal.detail.clear();
    }
    to_line(&outcome).unwrap()
}
