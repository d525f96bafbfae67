//! The lists of `[transactions]` in `diglot.toml`, by which `check` judges locks and fences, against the engine's source.

mod source;

use std::collections::BTreeMap;
use std::path::Path;

use diglot::config::Config;

/// The lists as the settings write them, to be taken over.
fn written(lists: &BTreeMap<String, Vec<String>>) -> String {
    const WIDTH: usize = 120;
    let mut text = String::new();
    for (name, statements) in lists {
        let quoted: Vec<String> = statements.iter().map(|statement| format!("\"{statement}\"")).collect();
        let line = format!("{name} = [{}]", quoted.join(", "));
        if line.len() <= WIDTH {
            text.push_str(&format!("{line}\n"));
            continue;
        }
        text.push_str(&format!("{name} = ["));
        let mut width = WIDTH;
        for item in quoted {
            if width + item.len() + 2 > WIDTH {
                text.push_str("\n ");
                width = 1;
            }
            text.push_str(&format!(" {item},"));
            width += item.len() + 2;
        }
        text.push_str("\n]\n");
    }
    text
}

#[test]
fn the_settings_list_what_the_engine_calls() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("diglot.toml")).expect("diglot.toml");
    let said = Config::parse(&text, "diglot.toml").expect("settings").transactions;
    let called = source::transactions(&root.join("src/engine"));
    let differs = |name: &&String| said.get(*name) != called.get(*name);
    let mut names: Vec<&String> = said.keys().chain(called.keys()).filter(differs).collect();
    names.dedup();
    names.sort();
    names.dedup();
    assert!(
        names.is_empty(),
        "diglot.toml and src/engine differ in {names:?}; below [transactions] stands now:\n\n{}",
        written(&called)
    );
}

#[test]
fn a_transaction_is_followed_through_functions_methods_and_branches() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = [
        (
            "work.rs",
            "async fn outer<D: Dialect>(backend: &Backend<D>) {
    transaction!(backend, \"work_do\", [key], |conn| {
        // conn.not_this(key)
        if *taking == Taking::Seizes && seize::row::<D>(conn, key).await? == Seized::Held {
            return Ok(());
        }
        conn.work_lock(key).await?;
        step::<D>(conn, key).await?;
        Held::of::<D>(conn, key).await?.end::<D>(conn).await
    })
}

async fn step<D: Dialect>(conn: &mut D::Connection, key: Key) -> Result<(), Abort> {
    match conn.work_step(&key).await? {
        0 => other::first::<D>(conn, key).await,
        _ => other::second::<D>(conn, key).await,
    }
}

async fn alone<D: Dialect>(backend: &Backend<D>) {
    let params = held::HeldEndParams { key };
    backend.db().unit(params).await?;
    backend.db().unit_telling::<held::HeldNoteParams, _, _>(noted(key), |row, wakes| wakes.lease(row.id)).await
}
",
        ),
        (
            "other.rs",
            "pub(crate) async fn first<D: Dialect>(conn: &mut D::Connection, key: Key) -> Result<(), Abort> {
    conn.other_first(&key)
        .await
}

pub(crate) async fn second<D: Dialect>(conn: &mut D::Connection, key: Key) -> Result<(), Abort> {
    conn
        .other_second(&key)
        .await
}

impl Held {
    async fn of<D: Dialect>(conn: &mut D::Connection, key: Key) -> Result<Self, Abort> {
        conn.held_read(&key).await
    }

    async fn end<D: Dialect>(self, conn: &mut D::Connection) -> Result<(), Abort> {
        conn.work_lock(&self.key).await?;
        conn.held_end(&self.key).await
    }
}
",
        ),
        (
            "seize.rs",
            "pub(crate) async fn row<D: Dialect>(conn: &mut D::Connection, key: Key) -> Result<Seized, Abort> {
    conn.row_try_lock(&key).await
}
",
        ),
    ];
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("written");
    }
    let rest = ["work_lock", "work_step", "other_first", "other_second", "held_read", "held_end"];
    let swept = [&["row_try_lock"], rest.as_slice()].concat();
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let expected = BTreeMap::from([
        ("held_end_alone".to_owned(), owned(&["held_end"])),
        ("work_do".to_owned(), owned(&rest)),
        ("work_do_swept".to_owned(), owned(&swept)),
    ]);
    assert_eq!(source::transactions(folder.path()), expected);
}
