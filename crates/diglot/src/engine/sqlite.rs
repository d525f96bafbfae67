//! What SQLite has, as the build says that comes with the driver.

use std::collections::HashMap;
use std::sync::OnceLock;

/// What `pragma_function_list` of that build gives.
const SQLITE: &str = include_str!("sqlite-3.51.3.txt");

/// The functions of SQLite, with how many values each takes.
#[derive(Debug, Default)]
pub(crate) struct Functions(HashMap<&'static str, Vec<i32>>);

/// The functions of the build that comes with the driver.
pub(crate) fn sqlite() -> &'static Functions {
    static READ: OnceLock<Functions> = OnceLock::new();
    READ.get_or_init(|| {
        let mut functions = HashMap::<&'static str, Vec<i32>>::new();
        for line in SQLITE.lines() {
            if let [name, _, count] = line.split(' ').collect::<Vec<_>>().as_slice()
                && let Ok(count) = count.parse()
            {
                functions.entry(name).or_default().push(count);
            }
        }
        Functions(functions)
    })
}

impl Functions {
    /// Whether there is one of that name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Whether one of that name takes so many values. −1 stands for any number, −2 and less for a least one.
    pub(crate) fn takes(&self, name: &str, values: usize) -> bool {
        let fits = |count: &i32| match usize::try_from(*count) {
            Ok(count) => count == values,
            Err(_) => values + 2 >= count.unsigned_abs() as usize,
        };
        self.0.get(name).is_some_and(|counts| counts.iter().any(fits))
    }
}
