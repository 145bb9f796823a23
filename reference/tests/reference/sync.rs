//! The client's side of a sync: what it asks for, and that it holds the record from
//! its start on whatever happens between two looks.

use onrecord_reference::Reference;
use onrecord_reference::sync::{Ask, Client};
use onrecord_spec::json::Json;
use onrecord_spec::op::Outcome;
use onrecord_spec::sync::{Stamp, Synced};

use super::{perform, row, user};

fn stamp(version: u64) -> Stamp {
    Stamp { epoch: "e".into(), version }
}

/// The rows of a conversation from seq `from` to `upto`, this one not included.
fn stretch(from: usize, upto: usize) -> Vec<Json> {
    (from..upto).map(|seq| row(seq, &user(&format!("row {seq}")))).collect()
}

/// The seq of the first row, and of the one behind the last.
type Stretch = (usize, usize);

#[test]
fn what_a_client_asks_for_and_holds() {
    // The rows that it holds, the newest page, what it asks for then, what it gets,
    // and what it holds in the end: each as a stretch of seqs.
    let cases: [(Stretch, Stretch, Option<u64>, Stretch); 8] = [
        ((0, 0), (3, 5), None, (3, 5)),
        ((0, 4), (2, 6), None, (0, 6)),
        ((0, 4), (3, 6), None, (0, 6)),
        ((0, 4), (4, 6), Some(0), (0, 6)),
        ((2, 4), (7, 9), Some(2), (2, 9)),
        ((2, 4), (0, 5), None, (2, 5)),
        ((2, 4), (2, 4), None, (2, 4)),
        ((2, 6), (1, 4), None, (2, 4)),
    ];
    for (held, page, asks, due) in cases {
        let mut client = Client::default();
        if held.0 < held.1 {
            assert_eq!(client.begin(stamp(1)), Some(Ask::Newest));
            assert_eq!(client.take(stretch(held.0, held.1)), None);
        }
        assert_eq!(client.begin(stamp(2)), Some(Ask::Newest));
        let next = client.take(stretch(page.0, page.1));
        assert_eq!(next, asks.map(Ask::From), "{held:?} and the page {page:?}");
        if let Some(from) = asks {
            assert_eq!(client.take(stretch(usize::try_from(from).unwrap(), page.1)), None);
        }
        let texts =
            |rows: &[Json]| rows.iter().map(|row| row.get().to_string()).collect::<Vec<_>>();
        assert_eq!(texts(client.held()), texts(&stretch(due.0, due.1)), "{held:?} and {page:?}");
        assert_eq!(client.begin(stamp(2)), None, "nothing moved");
    }
}

#[test]
fn a_client_whose_record_is_gone_holds_the_newest_page() {
    let mut client = Client::default();
    client.begin(stamp(1));
    client.take(stretch(0, 4));
    client.begin(stamp(2));
    let other = vec![row(0, &user("of another record"))];
    assert_eq!(client.take(other.clone()), Some(Ask::From(0)));
    assert_eq!(client.take(other), None);
    assert_eq!(client.held().len(), 1);
}

/// Small and the same everywhere.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % bound
    }
}

/// So many histories of so many steps each: appends, streams that end and that are
/// interrupted, compactions, restarts, and looks with any limit.
#[test]
fn a_client_holds_the_record_from_its_start_on_at_every_look() {
    let mut looks = 0;
    for seed in 0..300 {
        let mut chance = Chance(seed);
        let mut reference = Reference::new();
        perform(&mut reference, r#"{"load":{"rows":[]}}"#).unwrap();
        let mut stream: Option<String> = None;
        let mut streams = 0;
        let mut start: Option<u64> = None;
        for step in 0..40 {
            let next = reference.record().unwrap().next();
            let delta = |message: &str| {
                format!(
                    r#"{{"event":{{"type":"delta","message":"{message}","part":"text","text":"p{step} "}}}}"#
                )
            };
            let rest = match chance.below(8) {
                0 | 1 => user(&format!("step {step}")),
                2 if stream.is_none() => {
                    streams += 1;
                    let message = format!("m{streams}");
                    stream = Some(message.clone());
                    delta(&message)
                }
                2 | 3 => match &stream {
                    Some(message) => delta(message),
                    None => continue,
                },
                4 => match stream.take() {
                    Some(message) => {
                        let whole = user("the whole").replacen(
                            '{',
                            &format!(r#"{{"seq":{next},"id":"{message}","#),
                            1,
                        );
                        let append =
                            format!(r#"{{"append":{{"expect":{next},"rows":[{whole}]}}}}"#);
                        perform(&mut reference, &append).unwrap();
                        continue;
                    }
                    None => continue,
                },
                5 => {
                    stream = None;
                    r#"{"event":{"type":"turn","edge":"interrupted"}}"#.to_string()
                }
                6 => {
                    perform(&mut reference, r#"{"restart":{}}"#).unwrap();
                    continue;
                }
                _ => {
                    let limit = 1 + chance.below(4);
                    let synced = look(&mut reference, limit);
                    start = assert_whole(&reference, &synced, start, stream.is_some());
                    let again = look(&mut reference, limit);
                    assert_eq!(again.reads.is_empty(), synced.cached.is_some(), "seed {seed}");
                    looks += 1;
                    continue;
                }
            };
            let append = format!(
                r#"{{"append":{{"expect":{next},"rows":[{}]}}}}"#,
                row(usize::try_from(next).unwrap(), &rest)
            );
            perform(&mut reference, &append).unwrap();
        }
    }
    assert!(looks > 1_000, "{looks}");
}

fn look(reference: &mut Reference, limit: u64) -> Synced {
    match perform(reference, &format!(r#"{{"sync":{{"limit":{limit}}}}}"#)).unwrap() {
        Outcome::Synced(synced) => synced,
        other => panic!("{other:?}"),
    }
}

/// The rows are the record from the client's start on, which stays where it is; and
/// a stamp is kept exactly if no stream is open among them. Gives the start.
fn assert_whole(
    reference: &Reference,
    synced: &Synced,
    start: Option<u64>,
    streams: bool,
) -> Option<u64> {
    let record = reference.record().unwrap();
    let held: Vec<&str> = synced.rows.iter().map(|row| row.get()).collect();
    let from = record.next() - held.len() as u64;
    let due: Vec<&str> = record.read(from, None).map(|row| row.get()).collect();
    assert_eq!(held, due);
    assert!(start.is_none_or(|start| start == from), "held from {start:?} on, now from {from}");
    if !streams {
        assert!(synced.cached.is_some(), "all has settled");
    }
    (!held.is_empty()).then_some(from)
}
