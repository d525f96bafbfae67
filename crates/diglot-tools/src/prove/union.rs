//! Sets of places whose values meet.

use std::collections::BTreeMap;

use super::uses::Key;

/// Sets of keys that grow together.
#[derive(Default)]
pub(super) struct Union {
    ids: BTreeMap<Key, usize>,
    parents: Vec<usize>,
}

impl Union {
    pub(super) fn id(&mut self, key: &Key) -> usize {
        if let Some(id) = self.ids.get(key) {
            return *id;
        }
        self.parents.push(self.parents.len());
        self.ids.insert(key.clone(), self.parents.len() - 1);
        self.parents.len() - 1
    }

    fn root(&self, mut id: usize) -> usize {
        while self.parents[id] != id {
            id = self.parents[id];
        }
        id
    }

    pub(super) fn join(&mut self, a: &Key, b: &Key) {
        let (a, b) = (self.id(a), self.id(b));
        let (a, b) = (self.root(a), self.root(b));
        self.parents[a.max(b)] = a.min(b);
    }

    /// The number of every key's group, and the members of every group.
    pub(super) fn groups(self) -> (BTreeMap<Key, usize>, Vec<Vec<Key>>) {
        let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
        let mut members: Vec<Vec<Key>> = Vec::new();
        let mut of = BTreeMap::new();
        for (key, id) in &self.ids {
            let number = *numbers.entry(self.root(*id)).or_insert_with(|| {
                members.push(Vec::new());
                members.len() - 1
            });
            members[number].push(key.clone());
            of.insert(key.clone(), number);
        }
        (of, members)
    }
}
