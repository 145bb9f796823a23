//! Mutants of the chapter `recall`.

use onrecord_spec::found::Hit;
use onrecord_spec::op::{Implementation, Op, Outcome};
use onrecord_spec::record::ReplacementSource;
use onrecord_spec::rule::Rule;
use onrecord_spec::text::Text;

use super::Mutant;

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant::new(
        "recalls-what-is-in-view",
        Rule::RecallFilter,
        "What stands in the model's context is recalled too.",
        || {
            let mut name = Text::default();
            Box::new(move |reference, op| {
                if let Op::Load { header: Some(header), .. } = op {
                    let header: serde_json::Value =
                        serde_json::from_str(header.get()).unwrap_or_default();
                    name = Text::from(header["conversation"].as_str().unwrap_or_default());
                }
                let mut outcome = reference.perform(op)?;
                if let Outcome::Recalled { hits } = &mut outcome
                    && let Outcome::Context(context) = reference.perform(&Op::Context {})?
                {
                    hits.extend(context.rows.into_iter().map(|row| Hit {
                        conversation: name.clone(),
                        row: row.id,
                        left: None,
                    }));
                }
                Ok(outcome)
            })
        },
    ),
    Mutant::new(
        "recalls-only-elsewhere",
        Rule::RecallCovers,
        "Rows of the current conversation are not recalled, though they left its context.",
        || {
            Box::new(|reference, op| {
                let mut outcome = reference.perform(op)?;
                if let Outcome::Recalled { hits } = &mut outcome {
                    hits.retain(|hit| hit.left.is_none());
                }
                Ok(outcome)
            })
        },
    ),
    Mutant::new(
        "a-hit-without-its-flag",
        Rule::RecallOpensSource,
        "A hit does not say when its row left, nor which summary took it.",
        || {
            Box::new(|reference, op| {
                let mut outcome = reference.perform(op)?;
                if let Outcome::Recalled { hits } = &mut outcome {
                    hits.iter_mut().for_each(|hit| hit.left = None);
                }
                Ok(outcome)
            })
        },
    ),
    Mutant::new(
        "cleared-is-gone",
        Rule::RecallCleared,
        "The whole of a result that was cleared is not recalled.",
        || {
            Box::new(|reference, op| {
                let mut outcome = reference.perform(op)?;
                if let Outcome::Recalled { hits } = &mut outcome {
                    let cleared = |hit: &Hit| {
                        hit.left
                            .as_ref()
                            .is_some_and(|left| left.source == ReplacementSource::Clearing)
                    };
                    hits.retain(|hit| !cleared(hit));
                }
                Ok(outcome)
            })
        },
    ),
];
