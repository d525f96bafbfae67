//! The values of a pair's places that few programs write.

use std::collections::BTreeMap;

use super::scene::Scene;
use crate::prove::domain::Tier;
use crate::prove::subject::Subject;
use crate::prove::uses::Key;
use diglot::value::Value;

/// A place, or one in a document, with its edges.
pub(in crate::prove) struct EdgeSpot {
    pub(in crate::prove) key: Key,
    pub(in crate::prove) path: Vec<String>,
    pub(in crate::prove) values: Vec<Value>,
}

/// The places of a pair that have edges.
pub(in crate::prove) fn edge_spots(subject: &Subject) -> Vec<EdgeSpot> {
    let counts: BTreeMap<usize, usize> = (0..subject.tables.len()).map(|table| (table, 1)).collect();
    // No edge is a time around now.
    let scene = Scene::new(subject, &counts, 0);
    let of_slot = |slot: &super::scene::Slot| {
        let (key, path) = scene.key_of(&slot.spot)?;
        let of = |is_edge: bool| {
            let choices = slot.choices.iter().filter(move |choice| (choice.tier == Tier::Edge) == is_edge);
            choices.filter_map(|choice| choice.value.clone()).collect::<Vec<_>>()
        };
        // What a CHECK cuts an edge to may be as ordinary as anything.
        let ordinary = of(false);
        let values: Vec<Value> = of(true).into_iter().filter(|value| !ordinary.contains(value)).collect();
        (!values.is_empty()).then_some(EdgeSpot { key, path, values })
    };
    scene.slots.iter().filter_map(of_slot).collect()
}
