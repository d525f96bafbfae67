//! The majors of Postgres that a project runs on: what a text says has to hold on each.

use super::{Catalog, MAJORS, Refusal, Stability, catalog};

/// The catalogs of the majors that a project runs on, from the oldest.
#[derive(Debug, Clone)]
pub(crate) struct Majors(Vec<(u16, &'static Catalog)>);

impl Majors {
    /// Those of a project; what is no known major is left out.
    pub(crate) fn of(declared: &[u16]) -> Self {
        let known = MAJORS.into_iter().enumerate().filter(|(_, major)| declared.contains(major));
        Self(known.map(|(place, major)| (major, catalog(place))).collect())
    }

    /// The majors of which a name, or what is asked of it, is refused. Those that say of the name what the oldest says
    /// are asked once.
    pub(crate) fn refusing(&self, name: &str, ask: impl Fn(&Catalog) -> Option<Refusal>) -> Vec<(u16, Refusal)> {
        let mut of_most = None;
        let refusals = self.0.iter().filter_map(|(major, catalog)| {
            let refusal = match catalog.otherwise.contains(name) {
                true => ask(catalog),
                false => *of_most.get_or_insert_with(|| ask(catalog)),
            };
            Some((*major, refusal?))
        });
        refusals.collect()
    }

    /// All of them, for what none has.
    pub(crate) fn all(&self) -> Vec<(u16, Refusal)> {
        self.0.iter().map(|(major, _)| (*major, Refusal::NoSuch)).collect()
    }

    /// Whether these are all majors of the project.
    pub(crate) fn are_all(&self, refusing: &[(u16, Refusal)]) -> bool {
        refusing.len() == self.0.len()
    }

    /// The known majors that have a function, whether the project runs on them or not.
    pub(crate) fn with_function(name: &str) -> Vec<u16> {
        let having = (0..MAJORS.len()).filter(|place| catalog(*place).has_function(name));
        having.map(|place| MAJORS[place]).collect()
    }

    /// Whether a call by that name is a cast.
    pub(crate) fn has_type(&self, name: &str) -> bool {
        self.0.iter().any(|(_, catalog)| catalog.has_type(name))
    }

    /// How long something gives the same where it does so the least.
    pub(crate) fn stability(&self, ask: impl Fn(&Catalog) -> Stability) -> Stability {
        self.0.iter().map(|(_, catalog)| ask(catalog)).max().unwrap_or(Stability::Volatile)
    }
}
